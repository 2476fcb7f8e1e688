#include "graph/executor/activation.h"

#include <new>

#include "engine/errors/kernel_failure.h"
#include "engine/profile/scope.h"
#include "graph/executor/call_stack.h"
#include "graph/executor/subject.h"

namespace terra::graph {

Activation::Activation(Instance& instance, char* memory) : instance_(instance) {
  bases_ = reinterpret_cast<void**>(memory);
  scalars_ = reinterpret_cast<Scalar*>(bases_ + instance.bases());
  handles_ = reinterpret_cast<Handle*>(scalars_ + instance.scalars());
  records_ = reinterpret_cast<Ref<Record>*>(handles_ + instance.handles());
  for (size_t b = 0; b < instance.bases(); ++b) bases_[b] = nullptr;
  for (size_t s = 0; s < instance.scalars(); ++s) new (scalars_ + s) Scalar();
  for (size_t h = 0; h < instance.handles(); ++h) new (handles_ + h) Handle();
  for (size_t r = 0; r < instance.records(); ++r) new (records_ + r) Ref<Record>();
  bases_[Instance::kScalars] = scalars_;
}

Activation::~Activation() {
  for (size_t h = 0; h < instance_.handles(); ++h) handles_[h].~Handle();
  for (size_t r = 0; r < instance_.records(); ++r) records_[r].~Ref<Record>();
  instance_.forget(*this);
}

void Activation::take(size_t base, size_t bytes) { bind(base, backend().allocate(bytes)); }

/// The kernels keep the address of what is gone: nothing is read behind its last reader.
void Activation::give(size_t base, size_t bytes) {
  if (bases_[base]) backend().release(std::exchange(bases_[base], nullptr), bytes);
}

void Activation::give_all() {
  instance_.each_lent([&](size_t base, size_t bytes) { give(base, bytes); });
  if (!instance_.keeps_arena()) give(Instance::kArena, instance_.plan().arena_bytes);
}

RootActivation::RootActivation(Instance& instance)
    : TableMemory(instance), Activation(instance, TableMemory::memory.get()) {
  root_ = this;
  if (instance_.keeps_arena()) take(Instance::kArena, instance_.plan().arena_bytes);
}

RootActivation::~RootActivation() {
  end_run();
  give(Instance::kArena, instance_.plan().arena_bytes);
}

void RootActivation::make_fresh(size_t output) {
  if (fresh_.empty()) return;
  if (!fresh_[output]) {
    const size_t bytes = graph().meta(graph().outputs[output]).bytes();
    fresh_[output] = Storage::allocate(bytes, instance_.plan().device);
  }
  bind_fresh(output, fresh_[output]->data());
}

void RootActivation::let_go(size_t input) {
  TensorImpl* tensor = consumed_.empty() ? nullptr : consumed_[input];
  if (tensor) tensor->storage.reset();
}

bool RootActivation::run_tape(std::span<const Instruction> tape, bool (*interrupted)()) {
  for (const Instruction& i : tape) {
    const profile::Scope scope([&] { return subject_of(i, graph()); });
    if (!i.run(*i.block, *this) && !CallStack::of_thread().finish(*this, interrupted)) return false;
    if (interrupted && interrupted()) {
      stop_ = {Stop::Why::Interrupted, 0};
      return false;
    }
  }
  return true;
}

Stop RootActivation::run_body(bool (*interrupted)(), std::span<Ref<Storage>> fresh, bool lasting) {
  const profile::Scope scope([&] { return subject_of(graph(), false); });
  stop_ = {};
  fresh_ = fresh;
  settled_ = false;
  struct Ending {
    RootActivation* activation;
    ~Ending() {
      if (activation) activation->end_run();
    }
  } ending{this};
  instance_.load(*this);
  if (instance_.lends() && !bases_[Instance::kArena] && instance_.plan().arena_bytes > 0)
    take(Instance::kArena, instance_.plan().arena_bytes);
  try {
    if (!fresh_.empty())
      for (size_t output : instance_.early()) make_fresh(output);
    const std::span<const Instruction> body = instance_.body();
    if (run_tape(body.first(instance_.settling()), interrupted)) {
      settled_ = true;
      run_tape(body.subspan(instance_.settling()), lasting ? nullptr : interrupted);
    }
  } catch (const KernelError& e) {
    fail_as(e, {});
  }
  if (stop_.why == Stop::Why::None && !instance_.tail().empty()) ending.activation = nullptr;
  return stop_;
}

void RootActivation::run_tail() {
  if (instance_.tail().empty()) return end_run();
  const profile::Scope scope([&] { return subject_of(graph(), true); });
  run_tape(instance_.tail(), nullptr);
  end_run();
}

}  // namespace terra::graph
