// A program that needs nothing of the process it was made in: with names for what goes in, and what it keeps itself.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/trace/program.h"

namespace terra::graph {

/// One of the tensors that a run is bound to (InputBinding::index).
struct ProgramTensor {
  enum class Role : uint8_t {
    Argument,   ///< each run brings it
    Parameter,  ///< the program's own; learned
    Buffer,     ///< the program's own; a run may write it
    Constant,   ///< the program's own, and no part of the model's state
  };
  std::string name;  ///< of own ones: the tensor's name in a file
  Role role = Role::Argument;
  DType dtype = DType::F32;
  Dims sizes, strides;  ///< an argument that lies otherwise is copied, unless the program writes it
  Tensor value;         ///< of own ones; not part of the text
};

/// The constants of the graph are named "constant 0", "constant 1", ... in a file.
inline constexpr std::string_view kConstantPrefix = "constant ";

/// Text and data of a program file. The graph is as it was built from its trace: whoever runs it optimizes it first.
struct PortableProgram {
  std::vector<ProgramTensor> tensors;
  Program program;
  std::string structure;  ///< what the host wants to know again of arguments and results; opaque here
};

/// The tensor itself if it has these strides, else a copy that has them.
Tensor arranged(const Tensor& tensor, const Dims& strides);

/// The first reason why the program can't be kept or run elsewhere, or isn't one, as a sentence; or empty.
std::string find_violation(const PortableProgram& program);

}  // namespace terra::graph
