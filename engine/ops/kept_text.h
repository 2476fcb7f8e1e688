// Texts that live as long as the process.
#pragma once
#include <string>
#include <string_view>

namespace terra {

/// The same text, for good: what names of nodes may refer to. Any thread.
std::string_view kept_text(std::string text);

}  // namespace terra
