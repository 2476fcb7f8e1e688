// Runs the records of a trace through the engine's front end and tape.
#pragma once
#include <span>
#include <variant>
#include <vector>

#include "engine/errors/errors.h"
#include "graph/trace/trace.h"

namespace terra::graph {

/// The gradient of something that leaves the region runs a Python function (FunctionRecord, HookRecord), which only
/// passes inside the region can repeat.
class CallbackOutlives final : public InternalError {
 public:
  CallbackOutlives()
      : InternalError("the gradient of a result runs a function of the program after the region has ended") {}
};

/// A numbered value of a trace while it is replayed: a tensor (real or symbolic; host scalars of a graph are symbolic
/// 0-d tensors), a real scalar, a sequence that a loop made, or nothing yet.
using ReplayValue = std::variant<std::monostate, Tensor, Scalar, std::vector<Tensor>>;

/// A loop whose rounds a tensor's value counts can't be a loop of the graph; round by round it may still be expressed.
class LoopRefused final : public InternalError {
 public:
  using InternalError::InternalError;
};

/// A call takes a number that is only known when the graph runs where its op has to know it before.
class NumberRefused final : public InternalError {
 public:
  NumberRefused(const TraceRecord& call, const std::string& why)
      : InternalError(why), op(std::get<CallRecord>(call.what).op), file(call.file), line(call.line) {}
  const Op* const op;
  const std::string file;  ///< the Python line
  const int line;
};

/// Replays on real tensors, which is eager execution. Subclasses say what items and asserts become in a graph.
class Replay {
 public:
  explicit Replay(const Trace& trace);
  virtual ~Replay();
  Replay(const Replay&) = delete;

  void set(TraceId id, ReplayValue value);
  const ReplayValue& value(TraceId id) const { return values_[id]; }
  Tensor tensor(TraceId id) const;

  /// Runs all records under the trace's gradient mode. Throws InternalError for a malformed trace, and where something
  /// that the program was told about sizes isn't so for these inputs.
  void run();

  /// Of real tensors: the first assert that didn't hold, or -1.
  int failed_assert() const { return failed_assert_; }

  /// Calls that loops have made so far, each round counted.
  size_t looped_calls() const { return looped_calls_; }

 protected:
  virtual void at_line(const std::string&, int) {}
  virtual ReplayValue item(const Tensor& tensor, Scalar::Kind kind);
  /// Of a tensor or a number.
  virtual void assert_truth(const ReplayValue& value, bool expected);
  /// Arithmetic and facts where a number is only known when the graph runs.
  virtual ReplayValue computed_in_a_run(NumberRecord::Op op, const ReplayValue& a, const ReplayValue& b);
  virtual void fact_in_a_run(const Tensor& number, const std::vector<int64_t>& expected);
  /// A loop whose rounds a tensor's value counts.
  virtual void loop_by_value(const LoopBody& body) { rounds(body); }
  /// A branch that isn't known yet which way it goes.
  virtual void branch_by_value(const BranchRecord& branch);
  /// Before each record of the trace, those in loops included, but not of functions that passes over the tape call.
  virtual void begin_record(const TraceRecord&) {}
  /// A function of the program whose node is made after the region has ended.
  virtual void outliving_function(const FunctionRecord&) { throw CallbackOutlives(); }

  // ---- for those who take a loop apart ----
  void play(std::span<const TraceRecord> records);
  /// The values carried become those given, all at once.
  void begin_round(const LoopBody& body, std::vector<ReplayValue> carried);
  std::vector<ReplayValue> values_of(const std::vector<TraceId>& ids) const;
  /// A way of a branch, with its results.
  void go(const BranchBody& body, bool truth);
  std::vector<ReplayValue>& all_values() { return values_; }

 private:
  class Callbacks;
  class CallbackNode;

  void run(const std::vector<TraceRecord>& records);
  void run(const TraceRecord& record, bool of_callback);
  void apply(const CallRecord& r);
  void apply(const AssertRecord& r) { assert_truth(value(r.tensor), r.expected); }
  void apply(const ItemRecord& r) { set(r.result, item(tensor(r.tensor), r.kind)); }
  void apply(const BackwardRecord& r);
  void apply(const GradRecord& r);
  void apply(const ReadGradRecord& r);
  void apply(const WriteGradRecord& r);
  void apply(const GradModeRecord& r);
  void apply(const RequiresGradRecord& r);
  void apply(const FunctionRecord& r);
  void apply(const HistoryRecord& r);
  void apply(const HookRecord& r);
  void apply(const DataRecord& r);
  void apply(const RetainGradRecord& r);
  void apply(const SizeRecord& r);
  void apply(const NumberRecord& r);
  void apply(const FactRecord& r);
  void apply(const LoopRecord& r);
  void apply(const BranchRecord& r);
  void rounds(const LoopBody& body);
  bool goes_on(const TraceRecord& exit) const;
  ReplayValue operand(const TraceNumber& n) const;
  bool holds(const FactRecord& r) const;
  Scalar number(const TraceNumber& n) const;
  void check_result(const CallRecord& r, size_t index, const Tensor& result) const;

  std::vector<Tensor> tensors(const std::vector<TraceId>& ids) const;
  bool takes_symbolic_number(const TraceRecord& record) const;

  const Trace& trace_;
  std::vector<ReplayValue> values_;
  std::shared_ptr<Callbacks> callbacks_;
  int asserts_ = 0;
  int failed_assert_ = -1;
  size_t looped_ = 0;        ///< records run in loops so far
  size_t looped_calls_ = 0;  ///< calls among them
};

}  // namespace terra::graph
