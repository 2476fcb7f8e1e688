// Runs a program that was kept, with no host program around it.
//
//     graph::ProgramRunner model(graph::load("model.safetensors"));
//     Tensor y = std::get<Tensor>(model.run(std::vector{x})[0]);
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "graph/cache/compiled.h"
#include "graph/file/portable.h"

namespace terra::graph {

class ProgramRunner {
 public:
  /// Optimizes and plans. eager::start() has to have been called. Throws Error(RuntimeError) for what find_violation
  /// finds.
  explicit ProgramRunner(PortableProgram program);

  /// What a run takes, in order, and what the program keeps.
  std::vector<const ProgramTensor*> arguments() const;
  /// The program's own tensor of that name; undefined if there is none. A run reads what is in it by then.
  Tensor own(std::string_view name) const;

  /// The results, in the program's order. Arguments have to be as the program says: Error(ValueError or TypeError)
  /// names the one that isn't. Arguments and own tensors that the program writes are written when everything has been
  /// computed, or not at all.
  std::vector<RunOutput> run(std::span<const Tensor> arguments);

  const PortableProgram& program() const { return program_; }
  /// The optimized graph.
  std::string text() const { return compiled_->text(); }

 private:
  Tensor fitting(const ProgramTensor& expected, const Tensor& given, bool written) const;
  void check_apart(const std::vector<Tensor>& tensors) const;

  PortableProgram program_;
  std::vector<bool> written_;  ///< by tensor
  std::shared_ptr<Compiled> compiled_;
};

}  // namespace terra::graph
