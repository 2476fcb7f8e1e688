#include "recursive/deferral/batch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::recursive {
namespace {

constexpr uint32_t kNone = CallDag::kNone;
/// Batches sum in another order: so far apart, in parts of the largest element, are numbers that are the same.
constexpr double kRounding = 1e-3;
/// Larger calls take time to play again.
constexpr size_t kMostBytes = size_t{1} << 22;

/// The first batch of a kind, and each whose number has three bits more than the one before it.
bool is_due(uint64_t runs) { return std::has_single_bit(runs) && std::countr_zero(runs) % 3 == 0; }

template <class T>
bool near(const T* a, const T* b, int64_t count) {
  double most = 0;
  for (int64_t i = 0; i < count; ++i)
    if (std::isfinite(a[i])) most = std::max(most, std::abs(static_cast<double>(a[i])));
  for (int64_t i = 0; i < count; ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (!same && !(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <= kRounding * most)) return false;
  }
  return true;
}

bool is_like(const Tensor& plain, const void* batched) {
  const Tensor rows = (*find_op("contiguous"))(plain);
  if (rows.dtype() == DType::F32) return near(rows->data_as<float>(), static_cast<const float*>(batched), rows.numel());
  if (rows.dtype() == DType::F64)
    return near(rows->data_as<double>(), static_cast<const double*>(batched), rows.numel());
  return std::memcmp(rows->data(), batched, static_cast<size_t>(rows.numel()) * size_of(rows.dtype())) == 0;
}

/// What a call got there.
Tensor operand(const CallDag& dag, const DagRun& run, const CallDag::Operand& given) {
  if (given.tensor != kNone) return dag.tensors[given.tensor].given;
  const CallDag::Result& from = dag.results[given.result];
  const DeferredGraph::Output& output = dag.graph_of(dag.calls[from.call]).outputs()[from.output];
  return Tensor::view_of(run.copy_of(given.result), output.meta.dtype, output.meta.sizes, output.strides, 0);
}

}  // namespace

void check_batches(const CallDag& dag, const DagRun& run) {
  if (!checks_batches) return;
  const GradMode off(false);
  for (uint32_t k = 0; k < dag.kinds.size(); ++k) {
    const CallDag::Kind& kind = dag.kinds[k];
    const uint64_t runs = ++run.compiled(k).runs;
    if (!is_due(runs)) continue;
    size_t bytes = 0;
    for (const DeferredGraph::Output& o : kind.graph->outputs()) bytes += o.bytes;
    if (bytes > kMostBytes) continue;
    const CallDag::Call& call = dag.calls[kind.calls[runs * 7919 % kind.calls.size()]];
    const auto got = [&](const CallDag::Operand& given) { return operand(dag, run, given); };
    const std::vector<Tensor> plain = dag.play(call, got);
    for (uint32_t o = 0; o < plain.size(); ++o) {
      if (is_like(plain[o], run.copy_of(call.results + o)->data())) continue;
      kind.graph->wrong = true;
      throw InternalError(
          fmt::format("a batch of calls of '{}' came out otherwise than one call by itself", kind.graph->name()));
    }
  }
}

}  // namespace terra::recursive
