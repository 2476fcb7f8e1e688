// How the Python packages that come with Terra are found.
#pragma once

namespace terra::embed {

struct RunOptions;

// Adds finders to sys.meta_path rather than a folder to sys.path, which stays as python3 has it: `terra` is found
// beside the program, after everything on sys.path, also under -I and -S. With `options.torch`, `torch.x.y` is the very
// module object `terra.x.y`, so that classes, instances and pickles do not depend on the name they were imported by.
// Returns false with a Python exception set when something failed. Needs the GIL.
bool install_package_finders(const RunOptions& options);

}  // namespace terra::embed
