#include "graph/cache/call_by_call.h"

#include <algorithm>

#include "engine/autograd/autograd.h"
#include "graph/trace/replay.h"

namespace terra::graph {
namespace {

/// Whether all records are of these kinds, those in loops and branches included, or functions of the program that have
/// nodes of their own behind the region.
template <class... Kinds>
bool are_all(const std::vector<TraceRecord>& records) {
  return std::all_of(records.begin(), records.end(), [](const TraceRecord& r) {
    if (const auto* function = std::get_if<FunctionRecord>(&r.what)) return function->outlives;
    if (!(std::holds_alternative<Kinds>(r.what) || ...)) return false;
    if (const auto* gradients = std::get_if<GradRecord>(&r.what)) return gradients->runs.empty();
    if (const auto* loop = std::get_if<LoopRecord>(&r.what)) return are_all<Kinds...>(loop->body->records);
    const auto* branch = std::get_if<BranchRecord>(&r.what);
    return !branch || (are_all<Kinds...>(branch->body->ways[0]) && are_all<Kinds...>(branch->body->ways[1]));
  });
}

bool has_loop_by_value(const std::vector<TraceRecord>& records) {
  return std::any_of(records.begin(), records.end(), [](const TraceRecord& r) {
    const auto* loop = std::get_if<LoopRecord>(&r.what);
    return loop && (loop->body->ends_by_value() || has_loop_by_value(loop->body->records));
  });
}

class CallByCall final : public Replay {
 public:
  CallByCall(const Trace& trace, const GivenAgain& given) : Replay(trace), trace_(trace), given_(given) {}

  std::vector<autograd::Edge> run() {
    Replay::run();
    begin(trace_.records.size());
    return std::move(found_);
  }

 protected:
  void begin_record(const TraceRecord& record) override { begin(trace_.number_of(record)); }
  /// A part begins there, and with it the history of the results.
  void outliving_function(const FunctionRecord&) override {}

 private:
  void begin(size_t record) {
    if (record == given_.first)
      for (const auto& [t, edge] : given_.histories) autograd::set_history(tensor_of(t), edge.node, edge.index);
    if (record == given_.end)
      for (const ReplayTensor& t : given_.roots) found_.push_back(autograd::history(tensor_of(t)));
  }

  Tensor tensor_of(const ReplayTensor& which) const {
    const Tensor t = tensor(which.value);
    if (!which.is_base) return t;
    const autograd::Meta* const meta = autograd::find_meta(t);
    ensure(meta && meta->base.defined(), "what is a view in a graph is one of real tensors");
    return meta->base;
  }

  const Trace& trace_;
  const GivenAgain& given_;
  std::vector<autograd::Edge> found_;
};

}  // namespace

bool is_repeatable(const Trace& trace) {
  return are_all<CallRecord, AssertRecord, ItemRecord, GradRecord, GradModeRecord, DataRecord, SizeRecord, NumberRecord,
                 FactRecord, LoopRecord, BranchRecord>(trace.records);
}
bool is_settled(const Trace& trace) {
  return !has_loop_by_value(trace.records) &&
         are_all<CallRecord, AssertRecord, ItemRecord, GradRecord, GradModeRecord, DataRecord, SizeRecord, NumberRecord,
                 FactRecord, LoopRecord>(trace.records);
}

bool takes_gradients(const Trace& trace) {
  const auto takes = [](const auto& self, const std::vector<TraceRecord>& records) -> bool {
    return std::any_of(records.begin(), records.end(), [&](const TraceRecord& r) {
      const auto* loop = std::get_if<LoopRecord>(&r.what);
      return std::holds_alternative<GradRecord>(r.what) || (loop && self(self, loop->body->records));
    });
  };
  return takes(takes, trace.records);
}

std::vector<autograd::Edge> run_call_by_call(const Trace& trace, const std::vector<TraceInput>& inputs,
                                             const GivenAgain& given, bool others) {
  CallByCall replay(trace, given);
  size_t tensors = 0, scalars = 0;
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const TraceInput& in = inputs[i];
    if (in.kind == TraceInput::Kind::Tensor) {
      replay.set(i, given.tensors[tensors++]);
      continue;
    }
    replay.set(i, in.structural ? in.value : given.scalars[scalars]);
    ++scalars;
  }
  for (const auto& [id, tensor] : trace.constants) replay.set(id, tensor.requires_grad() ? tensor.alias() : tensor);
  std::vector<autograd::Edge> found = replay.run();
  if (!others && replay.failed_assert() >= 0)
    throw InternalError("the calls of a region go another way than when it ran");
  return found;
}

}  // namespace terra::graph
