// One run of a DAG of calls, batch by batch: its memory, forward and backward.
#pragma once
#include <map>
#include <vector>

#include "recursive/deferral/dag_schedule.h"

namespace terra::recursive {

/// Values of calls lie in rows, one for each call of a kind, in the order in which the kind's calls run: what a batch
/// computes is one stretch of memory. What it reads of other calls is gathered from their rows, forward and backward.
class DagRun {
 public:
  /// The dag has to live as long as the run.
  explicit DagRun(const CallDag& dag);

  void forward();
  /// A new tensor with what a call has made.
  Ref<Storage> copy_of(uint32_t result) const;
  /// Tangents by result, undefined where none arrives. Gradients by tensor of the dag, undefined where nothing arrives.
  /// May come several times, while nothing that it reads was written. Rows that no tangent
  /// reaches are computed with zeros: `exact` is false where that shows, since zero times infinity is no zero.
  std::vector<Tensor> backward(const std::vector<Tensor>& tangents, bool& exact);
  /// By call: that pass would go through it.
  std::vector<bool> reached(const std::vector<Tensor>& tangents);
  /// Whether somebody has written what a call got that is reached, or given it other memory.
  bool is_any_input_changed() const;
  /// Frees what calls have made and saved: there is no pass backward any more.
  void release();
  bool is_released() const { return memory_.empty(); }
  /// The pass backward reads what the call has saved.
  bool saves(size_t call) const { return schedule_.kinds[dag_.calls[call].kind].saves; }

  DeferredGraph::Compiled& compiled(uint32_t kind) const { return *schedule_.kinds[kind].compiled; }
  size_t batches() const { return schedule_.batches(); }
  size_t batches_of(uint32_t kind) const { return schedule_.batches_of(kind); }

 private:
  struct Memory {
    std::vector<char*> at;  ///< by value of the joint graph
    Tensor forward, backward;
    std::vector<Tensor> shared;
    std::map<ValueId, Tensor> totals;  ///< gradients of shared tensors, while a pass backward runs
  };
  using Phase = Moment::Phase;

  const StagedPath& staged(uint32_t kind) const { return schedule_.kinds[kind].compiled->path; }
  uint32_t rows(uint32_t kind) const { return static_cast<uint32_t>(schedule_.kinds[kind].order.size()); }
  void allocate(uint32_t kind, bool backward);
  void bind_shared(uint32_t kind);
  void run(uint32_t kind, Moment m, uint32_t first, uint32_t count);
  void run_rows(uint32_t kind, Segment& segment, uint32_t first, uint32_t count);
  void gather_inputs(uint32_t kind, Moment m, uint32_t first, uint32_t count);
  void gather_numbers(uint32_t kind, ValueId value, uint32_t input);
  void gather_operands(uint32_t kind, ValueId value, uint32_t input, uint32_t first, uint32_t count);
  void gather_tangents(uint32_t kind, ValueId value, uint32_t output, uint32_t first, uint32_t count);
  const char* row_of(const CallDag::Call& call, ValueId id) const;
  const char* result_row(uint32_t result) const;
  const char* gradient_row(uint32_t call, uint32_t input) const;
  void find_reached(const std::vector<Tensor>& tangents);
  bool is_reached(const CallDag::Call& call) const;
  bool reaches(const CallDag::Call& call, uint32_t input) const;
  bool reaches_look_up(const CallDag::Call& call, const JointOutput& looked_up) const;
  bool reaches_any(uint32_t kind, uint32_t input) const;
  bool reaches_all(const CallDag::Call& call) const;
  bool totals_are_finite(uint32_t kind) const;
  bool rows_are_finite(uint32_t kind) const;
  void collect(uint32_t kind, std::vector<Tensor>& gradients);
  void collect_look_up(uint32_t kind, const JointOutput& looked_up, std::vector<Tensor>& gradients);

  const CallDag& dag_;
  const DagSchedule schedule_;
  CallDag::Uses uses_;
  std::vector<Memory> memory_;                           // by kind
  const std::vector<Tensor>* tangents_ = nullptr;        // of the pass that runs
  std::vector<bool> reached_;                            // of it, by result: a tangent arrives
  std::vector<bool> kind_reached_;                       // and by kind: at any of its results
  mutable std::map<const TensorImpl*, Tensor> rows_of_;  // contiguous copies of tensors that calls get
};

}  // namespace terra::recursive
