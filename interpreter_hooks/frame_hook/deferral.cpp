#include "interpreter_hooks/frame_hook/deferral.h"

#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/frame_hook/decide.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/mode.h"
#include "interpreter_hooks/verify/chaos.h"

#include "kernels/abi/exact_mode.h"
#include "recursive/batching/row_graph.h"
#include "recursive/deferral/deferred_queue.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// So many frames up somebody may go through a batch; beyond are main programs.
constexpr int callers_noted = 4;

}  // namespace

void note_callers() {
  static uint64_t times = 0;
  if (++times > 64 && (times & (times - 1))) return;
  TerraFrame* caller = terra_frame_current(PyThreadState_Get());
  for (int i = 0; caller && i < callers_noted; caller = terra_frame_caller(caller), i++)
    if (CodeRecord* record = find_record(terra_frame_code(caller)); record && record->eligible)
      record->around_recursion = true;
}

static uint64_t operations() { return hooks::counters.eager_calls + static_cast<uint64_t>(totals().graph_calls); }

void RecursiveCall::begin() {
  note_callers();
  if (!measures() || record_.entries.empty()) return;
  sample_ = record_.recursion.next();
  if (sample_ == RecursionAccount::Sample::None) return;
  settle_deferred_work();
  recursion_is_plain = sample_ == RecursionAccount::Sample::Plain;
  operations_ = operations();
  recordings_ = totals().recordings;
  built_ = recursive::RowGraph::built();
  watch_.emplace();
}

/// What is put off belongs to the call.
void RecursiveCall::end() {
  recursion_is_plain = false;
  if (!watch_) return;
  try {
    settle_deferred_work();
  } catch (const std::exception&) {  // whoever asks for the bytes will hear of it
    return;
  }
  if (totals().recordings != recordings_) return;
  record_.recursion.add(sample_, watch_->elapsed(), operations() - operations_, recursive::RowGraph::built() != built_);
  if (record_.recursion.loses()) recursion_loses(record_);
}

bool defer_run(Entry& entry, const graph::PathInputs& inputs, std::vector<graph::RunOutput>& outputs) {
  if (!entry.deferred || entry.late_decides) return false;
  const bool joins = std::any_of(inputs.tensors.begin(), inputs.tensors.end(),
                                 [](const TensorImpl* t) { return recursive::DeferredQueue::is_to_be_made(*t); });
  if (recursion_depth == 0 && !joins) return false;
  if (!settings().batches || exact_mode() || chaos_is_on() || compares(settings().mode)) return false;
  const std::shared_ptr<recursive::DeferredGraph>& graph = entry.deferred->of(inputs.tensors, inputs.scalars);
  // What computes from what waits has to wait.
  return graph && !graph->wrong && (joins || graph->width.waits()) &&
         recursive::DeferredCalls::defer(graph, inputs.tensors, inputs.scalars, outputs);
}

}  // namespace terra::capture
