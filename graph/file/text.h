// Programs as text: what a run binds and publishes, field by field as fields.h has it, then the graph as graph/ir does.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/file/portable.h"

namespace terra::graph {

/// Fields that are what they are when nothing is said are left out. Tensors are named by number (constants_of).
std::string print(const Program& program);
/// Throws Error(ValueError) with line and column for text that is no program; what it says isn't verified. Generators
/// of the program's own are read as the default one.
Program parse_program(std::string_view text, const std::vector<Tensor>& constants = {});

/// The same with the tensors that a run is bound to, behind a first line that says the version.
std::string print(const PortableProgram& program);
PortableProgram parse_portable(std::string_view text, const std::vector<Tensor>& constants = {});

/// Grows when text of before can't be read any more or would mean something else.
inline constexpr int kTextVersion = 1;

}  // namespace terra::graph
