// The body of a run that takes long, which other threads may overtake.
#include <algorithm>
#include <chrono>

#include "engine/device/backend.h"
#include "engine/eager/host_lock.h"
#include "engine/random/draws_apart.h"
#include "graph/cache/run.h"

namespace terra::graph {
namespace {

/// What the body that this thread runs is interrupted by besides the end of the process, or null.
thread_local bool (*poll_of_run)() = nullptr;

bool poll_released() { return WithoutHostLock::is_over() || (poll_of_run && poll_of_run()); }

}  // namespace

Stop Runner::run_timed(bool (*poll)(), Made& made, bool lasting) {
  const auto start = std::chrono::steady_clock::now();
  const Stop stop = activation_.run_body(poll, made.storages, lasting);
  if (stop.why == Stop::Why::None)
    tempo_.took(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  return stop;
}

bool Runner::is_to_be_released(LentTensors inputs, const Release* release) {
  return release && releasable_.at_all && !writes_exported(inputs) && tempo_.is_to_be_released();
}

bool Runner::run_released(LentTensors inputs, std::span<const Tensor> tangents, bool (*poll)(), Release& release,
                          Made& made, Stop& stop) {
  release.hold();
  HeldTensors held;
  // Nobody else has what the run consumes.
  const std::vector<TensorImpl*> consumed = made.consumes ? this->consumed(inputs) : std::vector<TensorImpl*>();
  for (TensorImpl* tensor : inputs)
    if (std::find(consumed.begin(), consumed.end(), tensor) == consumed.end()) held.add(tensor);
  for (const Tensor& tensor : tangents)
    if (tensor.defined()) held.add(tensor.get());
  const std::vector<Ref<Storage>> copies = bind_copies(inputs);
  DrawsApart draws(program_.generators);
  bool alone;
  {
    const Flight::Scope flight(flight_);
    const DrawsApart::Scope drawing(draws);
    WithoutHostLock others;
    poll_of_run = poll;
    stop = run_timed(poll_released, made, false);
    alone = others.take_back();
  }
  if (stop.why == Stop::Why::Interrupted) return true;
  const ReleaseFaults& faults = release_faults();
  bool stands = alone && !faults.every_run;
  if (!stands) stands = held.unchanged() && release.stands();
  if (faults.overtaken && faults.overtaken()) stands = false;
  if (stands && stop.why == Stop::Why::None) stands = draws.settle();
  tempo_.released(!stands);
  return stands;
}

bool Runner::writes_exported(LentTensors inputs) const {
  return std::any_of(program_.writes.begin(), program_.writes.end(), [&](const StorageWrite& w) {
    return inputs[program_.inputs[w.input].index]->storage->exported();
  });
}

/// From the first element of each to the last.
std::vector<Ref<Storage>> Runner::bind_copies(LentTensors inputs) {
  std::vector<Ref<Storage>> copies;
  for (const size_t i : releasable_.copied) {
    const Dims &sizes = graph().meta(graph().inputs[i]).sizes, &strides = program_.inputs[i].strides;
    size_t elements = 1;
    for (size_t d = 0; d < sizes.size(); ++d) elements += static_cast<size_t>((sizes[d] - 1) * strides[d]);
    if (graph().meta(graph().inputs[i]).numel() == 0) elements = 0;
    const size_t bytes = elements * size_of(inputs[program_.inputs[i].index]->dtype);
    const Device device = inputs[program_.inputs[i].index]->device;
    const Ref<Storage>& copy = copies.emplace_back(Storage::allocate(bytes, device));
    backend_of(device).copy(copy->data(), input_address(inputs, i), bytes);
    activation_.bind_input(i, copy->data());
    bound_ = {};
  }
  return copies;
}

}  // namespace terra::graph
