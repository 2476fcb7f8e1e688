#include "graph/coexec/segment_graphs.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "engine/errors/errors.h"
#include "graph/coexec/pending_trace.h"
#include "kernels/abi/exact_mode.h"

namespace terra::coexec {
namespace {

bool lies_as_promised(const Tensor& made, const PendingResult& result) {
  const auto bytes = static_cast<size_t>(made->offset) * size_of(made.dtype()) + result.storage->bytes();
  return made.dtype() == result.meta.dtype && made.sizes() == result.meta.sizes &&
         made.strides() == result.meta.strides && bytes <= made->storage->bytes();
}

/// Each output has a storage of its own.
bool lie_apart(std::span<const Tensor> inputs, std::span<const graph::RunOutput> outputs) {
  std::vector<const Storage*> read, made;
  for (const Tensor& input : inputs) read.push_back(input->storage.get());
  for (const graph::RunOutput& output : outputs) made.push_back(std::get<Tensor>(output)->storage.get());
  std::sort(read.begin(), read.end());
  std::sort(made.begin(), made.end());
  return std::adjacent_find(made.begin(), made.end()) == made.end() &&
         std::none_of(made.begin(), made.end(),
                      [&read](const Storage* s) { return std::binary_search(read.begin(), read.end(), s); });
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// Of numbers of one kind.
bool same(const Scalar& a, const Scalar& b) {
  return a.is_float() ? std::bit_cast<uint64_t>(a.to_double()) == std::bit_cast<uint64_t>(b.to_double())
                      : a.to_int() == b.to_int();
}

void keep_shortest(double& shortest, double now, int runs) { shortest = runs ? std::min(shortest, now) : now; }

/// How often each result is read by the calls, or wanted.
std::vector<uint32_t> readers_of_results(const Pending& pending, const std::vector<uint32_t>& wanted) {
  std::vector<uint32_t> readers(pending.results.size());
  for (const PendingValue& operand : pending.operands)
    if (!operand.is_absent() && !operand.is_input()) readers[operand.index()]++;
  for (uint32_t i : wanted) readers[i]++;
  return readers;
}

/// Call by call, at once. A result lives no longer than until its last reader has it, as in a program that goes on.
void run_plainly(const Pending& pending, const std::vector<uint32_t>& wanted, std::vector<Tensor>& made) {
  std::vector<uint32_t> readers = readers_of_results(pending, wanted);
  std::vector<Tensor> results;
  results.reserve(pending.results.size());
  const auto tensor = [&](PendingValue value) {
    if (value.is_absent()) return Tensor();
    if (value.is_input()) return pending.inputs[value.index()].tensor;
    Tensor& result = results[value.index()];
    return --readers[value.index()] ? result : std::move(result);
  };
  for (const PendingCall& call : pending.calls) {
    const CallArguments arguments(pending, call, tensor);
    std::vector<ResultMeta> metas;
    for (uint32_t i = 0; i < call.results; i++) metas.push_back(pending.results[call.first_result + i].meta);
    default_emitter().emit(*call.op, arguments.args(), metas, results);
    for (uint32_t i = 0; i < call.results; i++)
      if (!readers[call.first_result + i]) results[call.first_result + i] = Tensor();
  }
  for (uint32_t i : wanted) made.push_back(results[i]);
}

}  // namespace

void deliver(const PendingResult& result, const Tensor& made) {
  result.storage->deliver(made->storage, static_cast<size_t>(made->offset) * size_of(made.dtype()));
}

SegmentGraphs::Kind& SegmentGraphs::kind_of(const Pending& pending, const std::vector<uint32_t>& wanted) {
  words_.assign(pending.signature.begin(), pending.signature.end());
  words_.insert(words_.end(), wanted.begin(), wanted.end());
  const auto known = kinds_.find(words_);
  if (known != kinds_.end()) return known->second;
  if (kinds_.size() >= kMost) kinds_.clear();
  return kinds_[words_];
}

/// False: not worth it, or can't be.
bool SegmentGraphs::make_graph(Kind& kind, const Pending& pending, const std::vector<uint32_t>& wanted) {
  kind.varies.resize(pending.numbers.size());
  kind.numbers.resize(pending.numbers.size());
  if (kind.graph) {
    for (size_t i = 0; i < kind.numbers.size(); i++)
      if (!same(kind.numbers[i], pending.numbers[i])) kind.varies[i] = true;
  }
  kind.graph.reset();
  kind.refused = kind.graphs++ >= kMostGraphs;
  if (kind.refused) return false;
  kind.numbers = pending.numbers;
  try {
    kind.graph = graph::compile(trace_of(pending, wanted, kind.varies));
  } catch (const InternalError&) {
    kind.refused = true;
  } catch (const Error&) {
    kind.refused = true;
  }
  return kind.graph != nullptr;
}

bool SegmentGraphs::run_graph(Kind& kind, const Pending& pending, const std::vector<uint32_t>& wanted,
                              std::vector<Tensor>& made) {
  std::vector<Tensor> inputs;
  for (const PendingInput& input : pending.inputs) inputs.push_back(input.tensor);
  std::vector<Scalar> numbers;
  for (size_t i = 0; i < pending.numbers.size(); i++)
    if (kind.varies[i]) numbers.emplace_back(pending.numbers[i]);
  std::vector<graph::RunOutput> outputs;
  const auto fits = [&] {
    for (size_t i = 0; i < wanted.size(); i++)
      if (!lies_as_promised(std::get<Tensor>(outputs[i]), pending.results[wanted[i]])) kind.refused = true;
    if (!lie_apart(inputs, outputs)) kind.refused = true;
    return !kind.refused;
  };
  const graph::RunResult result = kind.graph->run(lend(inputs), numbers, fits, outputs);
  if (result.status != graph::RunStatus::Done) return false;
  for (graph::RunOutput& output : outputs) made.push_back(std::move(std::get<Tensor>(output)));
  return true;
}

bool SegmentGraphs::run(const Pending& pending, const std::vector<uint32_t>& wanted, std::vector<Tensor>& made) {
  if (pending.computing < 2) return run_plainly(pending, wanted, made), false;
  Kind& kind = kind_of(pending, wanted);
  const auto same_numbers = [&] {
    for (size_t i = 0; i < pending.numbers.size(); i++)
      if (!kind.varies[i] && !same(kind.numbers[i], pending.numbers[i])) return false;
    return true;
  };
  const bool slower = !exact_mode() && kind.graph_runs >= kTimedRuns && kind.graph_us > kind.plain_us;
  bool by_graph = !kind.refused && !slower && kind.plain_runs >= kPlainRuns;
  if (by_graph && (!kind.graph || !same_numbers())) by_graph = make_graph(kind, pending, wanted);
  const auto start = std::chrono::steady_clock::now();
  if (by_graph && run_graph(kind, pending, wanted, made)) {
    // The first run touches its memory first.
    if (kind.graph_runs > 0) keep_shortest(kind.graph_us, microseconds_since(start), kind.graph_runs - 1);
    kind.graph_runs++;
    return true;
  }
  run_plainly(pending, wanted, made);
  keep_shortest(kind.plain_us, microseconds_since(start), kind.plain_runs);
  kind.plain_runs++;
  return false;
}

}  // namespace terra::coexec
