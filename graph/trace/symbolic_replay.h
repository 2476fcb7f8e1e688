// Replays on symbolic tensors: what the records do becomes nodes of a graph.
#pragma once
#include <optional>
#include <vector>

#include "graph/trace/emitter.h"
#include "graph/trace/replay.h"

namespace terra::graph {

class SymbolicReplay final : public Replay {
 public:
  /// What happens to the tape while the records are replayed.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void begin_record(const TraceRecord& record) = 0;
    virtual void outliving_function(const FunctionRecord& record) = 0;
  };
  SymbolicReplay(const Trace& trace, GraphEmitter& emitter) : Replay(trace), emitter_(&emitter), trace_(trace) {}

  /// From now on, the values of the trace's marks.
  void keep_cuts(std::vector<std::optional<std::vector<ValueId>>>& cuts) { cuts_ = &cuts; }
  /// Is told of what isn't inside of a loop that the graph itself runs.
  void watch(Watcher& watcher) { watcher_ = &watcher; }
  /// The tensors made so far that have a history, without views that get theirs from what their base has by then.
  std::vector<Tensor> with_history() const;

 protected:
  void at_line(const std::string& file, int line) override { emitter_->set_origin(file, line); }
  ReplayValue item(const Tensor& t, Scalar::Kind kind) override;
  void assert_truth(const ReplayValue& value, bool expected) override;
  ReplayValue computed_in_a_run(NumberRecord::Op op, const ReplayValue& a, const ReplayValue& b) override;
  void fact_in_a_run(const Tensor& number, const std::vector<int64_t>& expected) override;
  void loop_by_value(const LoopBody& body) override;
  void branch_by_value(const BranchRecord& branch) override;
  void begin_record(const TraceRecord& record) override {
    if (watcher_ && bodies_ == 0) watcher_->begin_record(record);
  }
  void outliving_function(const FunctionRecord& record) override;

 private:
  friend class LoopEmission;
  friend class BranchEmission;
  friend class NestedInputs;

  static bool is_number(const ReplayValue& value);
  /// Of a tensor or number whose value is only known when the graph runs, as a bool of no dimensions.
  Tensor truth(const ReplayValue& value);

  /// A number, known or not, as a 0-d tensor of bool, int64 or float64 that doesn't promote as Python's numbers do.
  Tensor exact(const ReplayValue& number);
  /// Has one element; a number is exact.
  Tensor single(const ReplayValue& value);

  std::optional<std::vector<ValueId>> cut(const TraceMark& mark);

  std::vector<std::optional<std::vector<ValueId>>>* cuts_ = nullptr;
  Watcher* watcher_ = nullptr;
  GraphEmitter* emitter_;  ///< of the graph, or of the body that is being emitted
  const Trace& trace_;
  int bodies_ = 0;  ///< loops around: their asserts are none of the trace's own
};

}  // namespace terra::graph
