// The C extension modules that are part of the program.
#pragma once

namespace terra::embed {

// Makes `_terra_C` importable in every interpreter of the process. Call it before Python is initialised.
void register_builtin_modules();

}  // namespace terra::embed
