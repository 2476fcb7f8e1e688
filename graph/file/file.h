// Program files: one safetensors file with the text of a program, its version, and every tensor that it keeps.
//
//     metadata  "format": "terra.program", "program": the text (text.h), "structure": the host's
//     tensors   parameters and buffers by their names; constants as "constant 0", "constant 1", ...
//
// The file is sealed (engine/serialize/safetensors.h): a byte that has changed is found before anything is run.
#pragma once
#include <string>
#include <string_view>

#include "graph/file/portable.h"

namespace terra::graph {

/// Throws Error(RuntimeError) for a program that isn't portable, with what in it is not.
std::string to_file(const PortableProgram& program);
/// Throws Error(RuntimeError) that calls the file `name`, for one that is damaged, of another version, or no program.
PortableProgram from_file(std::string_view bytes, std::string_view name);

void save(const PortableProgram& program, const std::string& path);
PortableProgram load(const std::string& path);

}  // namespace terra::graph
