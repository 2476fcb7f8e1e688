// An embedded Python interpreter that behaves as the system's own python3.
#pragma once

#include <filesystem>

namespace terra::embed {

struct RunOptions {
  // The folder that holds the Python package `terra`.
  std::filesystem::path package_folder;
  // `torch` (and `torchvision` where none is installed that can work) resolve to Terra's packages.
  bool torch = false;
  // Called once, when the interpreter is up and before any line of the program runs; false: a Python exception is set.
  bool (*started)() = nullptr;
};

// Runs Python's command line `argv` to its end and returns the exit status. Does all that python3's own main function
// does, down to printing tracebacks, and to ending the process where the interpreter cannot start at all.
//
// The calling thread becomes Python's main thread. Prefix and standard library are those of the interpreter linked in,
// whatever python3 is on PATH. A virtual environment counts when the program was started from its bin folder, or when
// VIRTUAL_ENV names it and its pyvenv.cfg is for the same minor version.
int run_main(int argc, char** argv, const RunOptions& options);

}  // namespace terra::embed
