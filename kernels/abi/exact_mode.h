// TERRA_EXACT=1: no choice that a measurement makes, so that runs can be compared bit for bit.
#pragma once
#include <cstdlib>
#include <string_view>

namespace terra {

/// Constant for the life of the process.
inline bool exact_mode() {
  static const bool exact = [] {
    const char* value = std::getenv("TERRA_EXACT");
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  }();
  return exact;
}

}  // namespace terra
