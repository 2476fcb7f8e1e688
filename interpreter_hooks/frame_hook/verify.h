// --capture=verify: an entry runs on copies, the frame is interpreted, and both have to agree.
#pragma once
#include "interpreter_hooks/effects/rehearsal.h"
#include "interpreter_hooks/frame_hook/disturbance.h"
#include "interpreter_hooks/frame_hook/registers.h"
#include "interpreter_hooks/recorder/entry.h"

#include <memory>
#include <optional>

namespace terra::capture {

/// What one entry would have made of one call. Compared are the result (type, identity, elements), every tensor that
/// the graph knows (elements, version, .grad, requires_grad), random state, and every place of the program that the
/// entry program reads or the effect program writes.
///
/// Fault injection (TERRA_CHAOS=value=N@K) makes thing number N wrong, counting outputs of the graph, then elements,
/// versions and gradients of its inputs, random states, and writes of the effect program.
class Verification {
 public:
  explicit Verification(std::shared_ptr<Entry> entry);

  Entry& entry() { return *entry_; }
  Run& start(PyObject* const* arguments, PyFunctionObject* function);

  /// In place of entry.graph->run.
  graph::RunResult run_graph(LentTensors inputs, const std::vector<Scalar>& scalars,
                             const std::function<bool()>& before_commit, std::vector<graph::RunOutput>& outputs,
                             const graph::SameTensors& same);
  /// The program's tensor where an output is the copy of one.
  Tensor output(const Tensor& tensor) const { return graph_->original(tensor); }
  /// When everything has run, in place of the effects.
  void expect_effects();

  /// After the frame has been interpreted: the first thing that differs. `result` is null after an exception.
  std::optional<Difference> compare(PyObject* result);
  /// Whether a difference proves nothing, because others may have made it since the run.
  bool disturbed() const { return !witness_.was_alone(); }

 private:
  void spoil_numbers(std::vector<graph::RunOutput>& outputs);
  void spoil_tensors(std::vector<graph::RunOutput>& outputs);
  bool tensors_alike();

  const Witness witness_;
  std::shared_ptr<Entry> entry_;
  Registers registers_;
  Run run_;
  std::unique_ptr<graph::Rehearsal> graph_;
  std::unique_ptr<Likeness> likeness_;
  std::unique_ptr<EffectRehearsal> effects_;
  int wrong_ = -1;  ///< number of the thing that is made wrong
};

}  // namespace terra::capture
