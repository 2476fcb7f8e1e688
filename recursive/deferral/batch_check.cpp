#include "recursive/deferral/batch_check.h"

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/cache/rounding.h"

namespace terra::recursive {
namespace {

constexpr uint32_t kNone = CallDag::kNone;
/// Larger calls take time to play again.
constexpr size_t kMostBytes = size_t{1} << 22;

/// What a call got there.
Tensor operand(const CallDag& dag, const DagRun& run, const CallDag::Operand& given) {
  if (given.tensor != kNone) return dag.tensors[given.tensor].given;
  const CallDag::Result& from = dag.results[given.result];
  const DeferredGraph::Output& output = dag.graph_of(dag.calls[from.call]).outputs()[from.output];
  return Tensor::view_of(run.copy_of(given.result), output.meta.dtype, output.meta.sizes, output.strides, 0);
}

}  // namespace

void check_batches(const CallDag& dag, const DagRun& run) {
  if (!graph::checks_batches) return;
  const GradMode off(false);
  for (uint32_t k = 0; k < dag.kinds.size(); ++k) {
    const CallDag::Kind& kind = dag.kinds[k];
    const uint64_t runs = ++run.compiled(k).runs;
    if (!graph::is_check_due(runs)) continue;
    size_t bytes = 0;
    for (const DeferredGraph::Output& o : kind.graph->outputs()) bytes += o.bytes;
    if (bytes > kMostBytes) continue;
    const CallDag::Call& call = dag.calls[kind.calls[runs * 7919 % kind.calls.size()]];
    const auto got = [&](const CallDag::Operand& given) { return operand(dag, run, given); };
    const std::vector<Tensor> plain = dag.play(call, got);
    for (uint32_t o = 0; o < plain.size(); ++o) {
      if (graph::is_same_but_for_rounding(plain[o], run.copy_of(call.results + o)->data())) continue;
      kind.graph->wrong = true;
      throw InternalError(
          fmt::format("a batch of calls of '{}' came out otherwise than one call by itself", kind.graph->name()));
    }
  }
}

}  // namespace terra::recursive
