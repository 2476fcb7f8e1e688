// An entry runs on copies, the frame is interpreted, and both have to agree: --capture=verify, and the self-check.
#pragma once
#include "interpreter_hooks/effects/rehearsal.h"
#include "interpreter_hooks/entry/entry.h"
#include "interpreter_hooks/entry/registers.h"
#include "interpreter_hooks/verify/gradient_check.h"
#include "interpreter_hooks/verify/interference.h"

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
  virtual ~Verification() = default;
  Verification(const Verification&) = delete;

  Entry& entry() { return *entry_; }
  /// Makes the entry's graph run a second time, from inputs that are a rounding error away: how far that moves what it
  /// computes is what rounding may have done to it in any run.
  void measure_rounding() { measures_rounding_ = true; }
  /// Compares the gradients that the results would lead to, as well.
  void compare_gradients() { compares_gradients_ = true; }
  Run& start(PyObject* const* arguments, PyFunctionObject* function);
  /// The short way fills in no registers but those that a run reads: all of them, for what looks at every object that
  /// the entry knows. False: the guards don't hold.
  bool look_at_all();

  /// In place of entry.graph->run.
  graph::RunResult run_graph(LentTensors inputs, const std::vector<Scalar>& scalars,
                             const std::function<bool()>& before_commit, std::vector<graph::RunOutput>& outputs,
                             const graph::SameTensors& same, graph::Release* release);
  /// The program's tensors where outputs are copies of them.
  void output_originals(std::vector<graph::RunOutput>& outputs) const;

  /// For merged paths, in place of that and of `start`. Puts copies in the place of tensors that `entry` lends and that
  /// aren't copies; false: more than `most_bytes` would be copied.
  bool lend_copies(const Entry& entry, std::vector<TensorImpl*>& tensors, size_t most_bytes);
  /// `run` runs the paths, which may draw from these generators.
  graph::RunResult run_paths(const std::vector<Generator*>& generators, const std::function<graph::RunResult()>& run,
                             const std::vector<graph::RunOutput>& outputs);
  /// The path that was taken; `run` is part of what is kept.
  void goes_by(std::shared_ptr<Entry> entry, Run& run, std::shared_ptr<void> kept);

  /// When everything has run, in place of the effects.
  void expect_effects();

  /// After the frame has been interpreted: the first thing that differs. `result` is null after an exception.
  std::optional<Difference> compare(PyObject* result);
  /// Whether that shows that the entry is wrong.
  virtual bool convicts(const std::optional<Difference>& difference) { return difference && !disturbed(); }
  /// Whether a difference proves nothing, because others may have made it since the run.
  bool disturbed() const { return !witness_.was_alone(); }

 protected:
  const std::shared_ptr<Entry> asked_;  ///< the likely one

 private:
  void note_made(const std::vector<graph::RunOutput>& outputs);
  void allow_for_rounding(const std::vector<Scalar>& scalars, const std::vector<graph::RunOutput>& outputs);
  void spoil_numbers(std::vector<graph::RunOutput>& outputs);
  void spoil_tensors(std::vector<graph::RunOutput>& outputs);
  bool tensors_alike();
  bool gradients_alike();
  Tape tape_of(const graph::Rehearsal& rehearsal, const std::vector<graph::RunOutput>& outputs) const;

  const Witness witness_;
  std::shared_ptr<Entry> entry_;  ///< of merged paths the one that was taken
  Registers registers_;
  Run own_run_;
  Run* run_ = &own_run_;
  std::unique_ptr<Registers> all_registers_;
  Run all_;
  std::shared_ptr<void> kept_;       ///< the visits of merged paths
  std::vector<std::string> inputs_;  ///< names
  std::unique_ptr<graph::Rehearsal> graph_;
  std::unique_ptr<Likeness> likeness_;
  std::unique_ptr<EffectRehearsal> effects_;
  int wrong_ = -1;  ///< number of the thing that is made wrong
  bool measures_rounding_ = false, compares_gradients_ = false;
  Tape tape_;  ///< of the run on copies
  /// The same gradients where the inputs are a rounding error away, if that was measured.
  std::optional<std::vector<Tensor>> moved_gradients_;
};

/// Makes the first output wrong: fault injection.
void spoil(std::vector<graph::RunOutput>& outputs);

}  // namespace terra::capture
