#include "graph/coexec/job.h"

#include <algorithm>
#include <unordered_map>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/coexec/graph_runner.h"
#include "kernels/abi/worker_thread.h"

namespace terra::coexec {

Ref<Storage> lent(const Storage& original) {
  return Storage::wrap(
      original.address(), original.bytes(), [](void*) {}, nullptr);
}

// ---- on the program's thread ----

Job::Job(Pending pending, std::span<const Source> sources, GraphRunner& runner)
    : pending_(std::move(pending)), wanted_(pending_.wanted()), runner_(runner), control_word_(FloatingPoint::word()) {
  times_.made = std::chrono::steady_clock::now();
  lend_inputs(sources);
}

/// The inputs become tensors of the job's own, on the memory of the program's.
void Job::lend_inputs(std::span<const Source> sources) {
  std::unordered_map<const Storage*, uint32_t> numbers;  // of `storages_`
  std::vector<uint32_t> storage_of;                      // by input
  for (size_t i = 0; i < pending_.inputs.size(); i++) {
    Tensor& input = pending_.inputs[i].tensor;
    const Storage& original = *input->storage;
    const auto [known, is_new] = numbers.try_emplace(&original, static_cast<uint32_t>(storages_.size()));
    if (is_new) {
      Kept& kept = storages_.emplace_back(Kept{input->storage, nullptr, sources[i]});
      kept.own =
          kept.is_result() ? Storage::deferred(original.bytes(), *kept.source.job, kept.source.result) : lent(original);
    }
    storage_of.push_back(known->second);
    const bool wrapped = input->wrapped_number;
    input = Tensor::view_of(storages_[known->second].own, input.dtype(), input.sizes(), input.strides(), input->offset);
    input->wrapped_number = wrapped;
  }
  for (uint32_t target : pending_.targets) storages_[storage_of[target]].written = true;
}

void Job::defer_storages() {
  for (uint32_t i = 0; i < storages_.size(); i++) storages_[i].original->defer_to(this, i | kInput);
  for (uint32_t i : wanted_) pending_.results[i].storage->defer_to(this, i);
}

void Job::settle() { runner_.fetch(*this); }

const Ref<Storage>& Job::storage(uint32_t ticket) const {
  return ticket & kInput ? storages_[ticket & ~kInput].original : pending_.results[ticket].storage;
}

Job::Source Job::source(const std::shared_ptr<Job>& self, uint32_t ticket) const {
  if (!(ticket & kInput)) return {self, ticket};
  const Kept& kept = storages_[ticket & ~kInput];
  const bool is_on_its_way = kept.source.job && !kept.source.job->is_taken();
  if (is_on_its_way && kept.is_result()) return kept.source;
  if (kept.written) return {self, Source::kInPlace};
  return is_on_its_way ? kept.source : Source{};
}

Pending Job::take() {
  taken_ = true;
  for (size_t i = 0; i < wanted_.size(); i++) {
    const PendingResult& result = pending_.results[wanted_[i]];
    if (error_) {
      result.storage->fail(error_);
      continue;
    }
    Deferral* const later = result.storage->deferral();  // a job that reads it
    const uint32_t ticket = result.storage->ticket();
    deliver(result, made_[i]);
    if (later != this) result.storage->defer_to(later, ticket);
  }
  for (const Kept& kept : storages_)
    if (kept.original->deferral() == this) kept.original->defer_to(nullptr, 0);
  storages_.clear();  // what was made stays: later jobs may read it
  return std::move(pending_);
}

// ---- on the runner's thread ----

void Job::run(SegmentGraphs& graphs) {
  times_.began = std::chrono::steady_clock::now();
  try {
    const FloatingPoint as_in_program(control_word_);
    for (Kept& kept : storages_) {
      if (!kept.source.job) continue;
      Job& from = *kept.source.job;
      is_follower_ = from.error_ != nullptr;
      if (is_follower_) std::rethrow_exception(from.error_);
      if (!kept.is_result()) continue;
      const auto at =
          std::lower_bound(from.wanted_.begin(), from.wanted_.end(), kept.source.result) - from.wanted_.begin();
      const Tensor& made = from.made_[static_cast<size_t>(at)];
      kept.own->deliver(made->storage, static_cast<size_t>(made->offset) * size_of(made.dtype()));
    }
    compute(graphs);
  } catch (...) {
    error_ = std::current_exception();
  }
  times_.ended = std::chrono::steady_clock::now();
  done_.store(true, std::memory_order_release);
}

void Job::compute(SegmentGraphs& graphs) {
  const GradMode off(false);
  if (!pending_.targets.empty()) return write();
  if (!wanted_.empty()) by_graph_ = graphs.run(pending_, wanted_, made_);
}

void Job::write() {
  const auto tensor = [this](PendingValue value) {
    return value.is_absent() ? Tensor() : pending_.inputs[value.index()].tensor;
  };
  const CallArguments arguments(pending_, pending_.calls.front(), tensor);
  std::vector<Tensor> targets;
  for (uint32_t i : pending_.targets) targets.push_back(pending_.inputs[i].tensor);
  default_emitter().emit_write(*pending_.calls.front().op, arguments.args(), pending_.metas, targets);
}

}  // namespace terra::coexec
