#include "interpreter_hooks/embed/virtualenv.h"

#include <patchlevel.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace terra::embed {
namespace {

namespace fs = std::filesystem;

constexpr const char* marker = "pyvenv.cfg";

std::string_view stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Cuts the text before `separator` off the front of `rest`, and the separator with it.
std::string_view take_until(char separator, std::string_view& rest) {
  const std::string_view taken = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), taken.size() + 1));
  return taken;
}

bool lies_in_virtualenv(const fs::path& program) {
  std::error_code ignored;
  const fs::path folder = program.parent_path();
  return fs::is_regular_file(folder.parent_path() / marker, ignored) || fs::is_regular_file(folder / marker, ignored);
}

}  // namespace

fs::path program_path(std::string_view argv0) {
  std::error_code failed;
  if (argv0.find('/') != std::string_view::npos) return fs::absolute(argv0, failed).lexically_normal();
  const char* variable = std::getenv("PATH");
  for (std::string_view rest = variable ? variable : ""; !rest.empty();) {
    const fs::path candidate = fs::path(take_until(':', rest)) / argv0;
    if (fs::is_regular_file(candidate, failed) && access(candidate.c_str(), X_OK) == 0) {
      return fs::absolute(candidate, failed).lexically_normal();
    }
  }
  return {};
}

bool is_for_this_python(std::string_view pyvenv_cfg) {
  // venv writes `version = 3.11.2`, virtualenv `version_info = 3.11.2.final.0`.
  while (!pyvenv_cfg.empty()) {
    std::string_view value = take_until('\n', pyvenv_cfg);
    const std::string_view key = stripped(take_until('=', value));
    if (key != "version" && key != "version_info") continue;
    value = stripped(value);
    const std::string_view major = take_until('.', value);
    return major == std::to_string(PY_MAJOR_VERSION) && take_until('.', value) == std::to_string(PY_MINOR_VERSION);
  }
  return false;
}

std::optional<fs::path> active_virtualenv(const fs::path& program) {
  const char* variable = std::getenv("VIRTUAL_ENV");
  if (!variable || !*variable || program.empty() || lies_in_virtualenv(program)) return std::nullopt;
  std::error_code failed;
  const fs::path environment = fs::absolute(variable, failed);
  std::ifstream file(environment / marker);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!is_for_this_python(text)) return std::nullopt;
  return environment;
}

}  // namespace terra::embed
