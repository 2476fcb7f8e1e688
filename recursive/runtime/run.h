// One run of a forest: the memory of its calls, forward and backward.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "recursive/runtime/schedule.h"

namespace terra::recursive {

/// What came of a pass backward. Undefined where nothing arrived.
struct RunGradients {
  std::vector<Tensor> shared;                 ///< by input of the root
  std::vector<std::vector<Tensor>> operands;  ///< by root and input: of those that aren't shared
  /// Of tensors that the host read: by Run::feeds().
  std::vector<Tensor> feeds;
};

/// A tensor that the host read from the structure, for one call.
struct FeedUse {
  uint32_t path = 0;  ///< in Schedule::paths
  ValueId value = 0;  ///< of the joint graph
  uint32_t row = 0;   ///< of the path
};

/// Values of calls lie in rows, one for each call of a path, in the order in which a stage runs them: what a batch
/// computes is one stretch of memory. What a batch reads from other calls is gathered from their rows. Only `forward`
/// has to come first; `backward` may come several times.
///
/// Where tensors choose the way, the forest grows while it runs: whatever waits only for known calls is computed, all
/// structures together; then the walk goes on by the numbers that came of it, and so forth.
class Run {
 public:
  /// Operands by root and input of the SubGraph, and the walk of their structures.
  Run(const SubGraphs& graphs, std::vector<std::vector<HostValue>> roots, Forest forest);

  /// Results by root. `staged` compiles. Throws what the walk throws.
  std::vector<std::vector<Tensor>> forward(const Schedule::Staged& staged);
  /// Tangents by root and result, undefined for zeros.
  RunGradients backward(const std::vector<std::vector<Tensor>>& tangents);
  /// Whatever only a pass backward reads goes.
  void release();
  bool released() const { return memory_.empty(); }
  /// The pass backward reads that input of the root.
  bool is_read_backward(uint32_t shared) const;

  const Forest& forest() const { return forest_; }
  const Schedule& schedule() const { return schedule_; }
  /// Tensors with a gradient among what the host read.
  const std::vector<FeedUse>& feeds() const { return feeds_; }
  const Tensor& fed(const FeedUse& use) const;

 private:
  struct PathMemory {
    std::vector<char*> at;            ///< by value of the joint graph
    std::vector<Tensor> held;         ///< shared tensors
    uint32_t rows = 0, capacity = 0;  ///< those that are in use forward, and that there is memory for
    Tensor forward, backward;
    // While a pass backward runs:
    std::map<ValueId, Tensor> totals;          ///< gradients of shared tensors, of the calls so far
    std::vector<std::vector<bool>> undefined;  ///< by value: the rows into which nothing flows; empty: there are none
  };

  /// Rows of a moment's order that one segment computes: a stretch, or these places where there are any.
  struct Rows {
    Segment* segment = nullptr;
    uint32_t first = 0, count = 0;
    std::vector<uint32_t> places = {};

    uint32_t place(uint32_t i) const { return places.empty() ? first + i : places[i]; }
  };

  Tensor allocate(uint32_t path, bool backward, uint32_t rows);
  void grow(uint32_t path);
  void hold_shared(uint32_t path);
  void fill_feeds(uint32_t path, uint32_t first);
  void run_known(const Schedule::Staged& staged, bool all);
  std::optional<Scalar> item(const Forest::Waiting& waiting, uint32_t input, Scalar::Kind kind);
  void run(uint32_t path, Moment m, uint32_t first, uint32_t count);
  std::vector<Rows> rows_alike(uint32_t path, Moment m, Rows all);
  void run_rows(uint32_t path, Moment m, const Rows& rows, graph::RootActivation& activation);
  void run_one_by_one(uint32_t path, Moment m, const Rows& rows);
  uint32_t rows_of_a_grain(uint32_t path, const Segment& segment) const;
  void leave_undefined(uint32_t path, const Rows& rows);
  void gather_inputs(uint32_t path, Moment m, uint32_t first, uint32_t count);
  template <class Source>
  void gather(uint32_t path, ValueId value, uint32_t first, uint32_t count, Source&& source);
  char* rows_for(uint32_t path, ValueId value, Moment m, const Rows& rows, std::vector<Tensor>& scratch);
  void set_undefined(uint32_t path, ValueId value, uint32_t place);
  bool is_undefined(uint32_t path, ValueId value, const Call& call) const;
  bool is_undefined(uint32_t path, const JointOutput& gradient, const Call& call) const;
  bool is_undefined_in_all(uint32_t path, const JointOutput& gradient) const;
  uint32_t place_of(uint32_t path, ValueId value, const Call& call) const;
  const char* row_of(uint32_t path, ValueId value, const Call& call) const;
  const char* row(const Call& call, JointOutput::Kind kind, uint32_t index, uint32_t site);
  const char* gradient_row(const Call& call, JointInput::Kind kind, uint32_t index, uint32_t site);
  const char* operand_row(const Call& call, uint32_t input);
  const char* zeros(size_t bytes);
  RunGradients collect();

  const SubGraphs& graphs_;
  const std::vector<std::vector<HostValue>> roots_;
  Forest forest_;
  Schedule schedule_;
  std::vector<PathMemory> memory_;  // by path of the schedule
  std::vector<FeedUse> feeds_;
  std::vector<std::vector<Tensor>> operands_;                   // by root and input: contiguous, where not shared
  const std::vector<std::vector<Tensor>>* tangents_ = nullptr;  // of the pass that runs
  std::vector<char> zeros_;
};

}  // namespace terra::recursive
