// Which virtual environment a program runs in.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace terra::embed {

// The absolute path under which a program was started as `argv0`: symbolic links unresolved, since a link in the bin
// folder of a virtual environment means that environment; empty when it cannot be found.
std::filesystem::path program_path(std::string_view argv0);

// The environment that VIRTUAL_ENV names, when its pyvenv.cfg is for the minor version of Python linked in and
// `program` does not itself lie in an environment, which Python finds without help.
std::optional<std::filesystem::path> active_virtualenv(const std::filesystem::path& program);

// True when a pyvenv.cfg with this text is for the minor version of Python linked in.
bool is_for_this_python(std::string_view pyvenv_cfg);

}  // namespace terra::embed
