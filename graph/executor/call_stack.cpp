#include "graph/executor/call_stack.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/memory/allocator.h"
#include "engine/profile/scope.h"
#include "graph/executor/blocks.h"
#include "graph/executor/subject.h"

namespace terra::graph {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;

constexpr size_t aligned(size_t bytes) {
  return (bytes + memory::kAlignment - 1) / memory::kAlignment * memory::kAlignment;
}

/// The arena of an activation lies behind it, where it is small and of the host's memory.
size_t bytes_of_arena_beside(const Instance& instance) {
  return instance.keeps_arena() && instance.plan().device.is_cpu() ? aligned(instance.plan().arena_bytes) : 0;
}

}  // namespace

/// An activation with its place on the stack.
struct CallStack::Frame final : Activation {
  Frame(Instance& instance, char* memory, Activation& of, ControlBlock& at)
      : Activation(instance, memory), caller(of), step(at), next(instance.body().data()) {}
  ~Frame() = default;

  Activation& caller;
  ControlBlock& step;       ///< of the caller
  const Instruction* next;  ///< that it runs
  Frame* below = nullptr;
  size_t chunk = 0, used = 0;  ///< of the stack, before it came
};

size_t& most_bytes_of_calls() {
  static size_t bytes = size_t{4} << 30;
  return bytes;
}

CallStack& CallStack::of_thread() {
  static thread_local CallStack stack;
  return stack;
}

CallStack::~CallStack() {
  while (top_) leave();
}

/// Starts another chunk where the last one has too little left; what is left is not used.
char* CallStack::reserve(size_t bytes) {
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].bytes) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    if (bytes_ > most_bytes_of_calls())
      fail(ErrorKind::RuntimeError,
           "graphs call each other so deep that what waits takes {} MB: do the calls ever end?", bytes_ >> 20);
    Chunk& chunk = chunks_.emplace_back();
    bytes_ += chunk.bytes = std::max(kChunkBytes, bytes);
    chunk.memory.reset(new char[chunk.bytes + memory::kAlignment]);
  }
  const auto start = reinterpret_cast<uintptr_t>(chunks_[chunk_].memory.get());
  char* const at = chunks_[chunk_].memory.get() + (aligned(start) - start) + used_;
  used_ += bytes;
  return at;
}

Activation& CallStack::enter(Instance& instance, Activation& caller, ControlBlock& step) {
  const size_t head = aligned(sizeof(Frame)), tables = aligned(instance.table_bytes());
  const size_t arena = bytes_of_arena_beside(instance);
  const size_t chunk = chunk_, used = used_;
  char* const at = reserve(head + tables + arena);
  Frame* frame = new (at) Frame(instance, at + head, caller, step);
  frame->below = top_;
  frame->chunk = chunk;
  frame->used = used;
  top_ = frame;
  if (arena)
    frame->bases_[Instance::kArena] = at + head + tables;
  else if (instance.plan().arena_bytes > 0)
    frame->take(Instance::kArena, instance.plan().arena_bytes);
  return *frame;
}

void CallStack::leave() {
  Frame* const frame = top_;
  const Instance& instance = frame->instance();
  if (instance.lends()) frame->give_all();
  if (!bytes_of_arena_beside(instance)) frame->give(Instance::kArena, instance.plan().arena_bytes);
  top_ = frame->below;
  chunk_ = frame->chunk;
  used_ = frame->used;
  frame->~Frame();
  if (top_ || chunks_.size() == 1) return;
  chunks_.resize(1);
  bytes_ = chunks_[0].bytes;
}

/// False: it was stopped, or has entered another one.
bool CallStack::run(Frame& frame, bool (*interrupted)()) {
  const Instruction* const end = frame.instance().body().data() + frame.instance().body().size();
  while (frame.next != end) {
    const Instruction& i = *frame.next++;
    const profile::Scope scope([&] { return subject_of(i, frame.graph()); });
    if (!i.run(*i.block, frame)) return false;
    if (interrupted && interrupted()) {
      frame.stop({Stop::Why::Interrupted, 0});
      return false;
    }
  }
  return true;
}

bool CallStack::finish(Activation& caller, bool (*interrupted)()) {
  Frame* const base = top_ && &top_->caller == &caller ? top_->below : nullptr;
  if (!top_ || &top_->caller != &caller) return false;
  struct Unwinding {
    CallStack& stack;
    Frame* base;
    ~Unwinding() {
      while (stack.top_ != base) stack.leave();
    }
  } const unwinding{*this, base};
  for (;;) {
    Frame& frame = *top_;
    frame.instance().load(frame);
    if (!run(frame, interrupted)) {
      if (top_ != &frame) continue;
      caller.stop(frame.stopped());
      return false;
    }
    Activation& outer = frame.caller;
    ControlBlock& step = frame.step;
    step.leave(outer, frame);
    leave();
    outer.instance().load(outer);
    if (step.go_on(outer) && &outer == &caller) return true;
  }
}

}  // namespace terra::graph
