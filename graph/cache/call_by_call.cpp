#include "graph/cache/call_by_call.h"

#include <algorithm>

#include "engine/autograd/autograd.h"
#include "graph/trace/replay.h"

namespace terra::graph {
namespace {

/// Whether all records are of these kinds, those in loops and branches included.
template <class... Kinds>
bool are_all(const std::vector<TraceRecord>& records) {
  return std::all_of(records.begin(), records.end(), [](const TraceRecord& r) {
    if (const auto* loop = std::get_if<LoopRecord>(&r.what))
      return (std::holds_alternative<Kinds>(r.what) || ...) && are_all<Kinds...>(loop->body->records);
    if (const auto* branch = std::get_if<BranchRecord>(&r.what))
      return (std::holds_alternative<Kinds>(r.what) || ...) && are_all<Kinds...>(branch->body->ways[0]) &&
             are_all<Kinds...>(branch->body->ways[1]);
    return (std::holds_alternative<Kinds>(r.what) || ...);
  });
}

class CallByCall final : public Replay {
 public:
  CallByCall(const Trace& trace, std::map<TraceId, autograd::Edge> histories)
      : Replay(trace), writes_nothing_(!histories.empty()), histories_(std::move(histories)) {}

 protected:
  /// Before anything is made of what the last record made.
  void begin_record(const TraceRecord& record) override {
    const auto* call = std::get_if<CallRecord>(&record.what);
    if (writes_nothing_ && call && call->in_place)
      throw InternalError("a result that others follow from may have been written in the meantime");
    std::erase_if(histories_, [&](const auto& entry) {
      const auto* made = std::get_if<Tensor>(&value(entry.first));
      if (!made) return false;
      const Tensor given = made->alias();
      autograd::set_history(given, entry.second.node, entry.second.index);
      set(entry.first, given);
      return true;
    });
  }

 private:
  const bool writes_nothing_;
  std::map<TraceId, autograd::Edge> histories_;
};

}  // namespace

bool is_repeatable(const Trace& trace) {
  return are_all<CallRecord, AssertRecord, ItemRecord, GradModeRecord, SizeRecord, NumberRecord, FactRecord, LoopRecord,
                 BranchRecord>(trace.records);
}
bool is_settled(const Trace& trace) {
  return are_all<CallRecord, GradModeRecord, SizeRecord, NumberRecord, FactRecord, LoopRecord>(trace.records);
}

std::vector<Tensor> run_call_by_call(const Trace& trace, const std::vector<TraceInput>& inputs, GivenAgain given) {
  CallByCall replay(trace, std::move(given.histories));
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
  replay.run();
  if (replay.failed_assert() >= 0) throw InternalError("the calls of a region go another way than when it ran");
  std::vector<Tensor> outputs;
  for (TraceId id : trace.outputs) {
    const auto* made = std::get_if<Tensor>(&replay.value(id));
    outputs.push_back(made ? *made : Tensor());
  }
  return outputs;
}

}  // namespace terra::graph
