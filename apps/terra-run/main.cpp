// terra-run: python3 with Terra inside.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "apps/terra-run/options.h"
#include "engine/device/backend.h"
#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/embed/builtin_modules.h"
#include "interpreter_hooks/embed/capture.h"
#include "interpreter_hooks/embed/interpreter.h"

namespace {

// The package `terra` lies in lib/ beside the bin/ of this program, in the build tree as after installation.
std::filesystem::path package_folder() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().parent_path() / "lib";
}

bool is_set(const char* variable, std::string_view value) {
  const char* text = std::getenv(variable);
  return text && text == value;
}

// TERRA_HOOK=passthrough, for tests: every frame goes through the hook, and the hook runs it plainly.
bool started() {
  if (is_set("TERRA_HOOK", "passthrough")) terra_hook_install(terra_frame_run, nullptr);
  return !terra::embed::capture_starts_with_program() || terra::embed::start_capture();
}

// Measured speed depends on the BLAS core, and an inherited variable can halve it: hence both are shown.
void print_version() {
  std::printf("Terra %s\n", TERRA_VERSION);
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
                           "DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA"}) {
    if (const char* value = std::getenv(name)) std::printf("%s=%s\n", name, value);
  }
  std::printf("BLAS core: %s\n", terra::libraries().linear_algebra.name());
}

}  // namespace

int main(int argc, char** argv) {
  terra::CommandLine line = terra::read_command_line(argc, argv);
  if (!line.error.empty()) {
    std::fprintf(stderr, "terra-run: %s.\nTry `terra-run --help-terra' for more information.\n", line.error.c_str());
    return 2;
  }
  if (line.help) {
    std::fputs(terra::help_text().c_str(), stdout);
    return 0;
  }
  for (const auto& [name, value] : line.variables) setenv(name.c_str(), value.c_str(), 1);

  terra::embed::register_builtin_modules();
  const int argument_count = static_cast<int>(line.python.size());
  line.python.push_back(nullptr);
  const int status = terra::embed::run_main(
      argument_count, line.python.data(),
      {.package_folder = package_folder(), .torch = is_set("TERRA_TORCH", "1"), .started = started});
  if (line.version) print_version();
  return status == 0 && terra::embed::reports_failed() ? 1 : status;
}
