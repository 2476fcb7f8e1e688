// One execution of an instance: where its memory lies, its numbers, how far it has come.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/tensor/storage.h"
#include "graph/executor/instance.h"
#include "graph/ir/handle.h"
#include "graph/ir/record.h"

namespace terra::graph {

class ControlBlock;
class RootActivation;

/// What ended a run of the tape before its end.
struct Stop {
  enum class Why : uint8_t { None, AssertFailed, Interrupted };
  Why why = Why::None;
  uint32_t assert_index = 0;
};

/// Many of one instance may be alive at a time, of which one runs: the others wait for what they have called. The
/// instance's kernels are given the addresses of an activation when it (again) runs (Instance::load).
class Activation {
 public:
  Activation(const Activation&) = delete;

  Instance& instance() const { return instance_; }
  const Graph& graph() const { return instance_.plan().graph; }
  const Backend& backend() const { return instance_.backend(); }

  // What is bound stays bound.
  void bind_input(size_t input, void* data) { bind(instance_.base_of_input(input), data); }
  const void* bound_input(size_t input) const { return bases_[instance_.base_of_input(input)]; }
  void bind_scalar(size_t input, const Scalar& value) { set_scalar(graph().inputs[input], value); }
  void bind_record(size_t input, Ref<Record> value) { set_record(graph().inputs[input], std::move(value)); }
  /// Memory for a fresh graph output, of the bytes of its value.
  void bind_fresh(size_t output, void* data) { bind(instance_.base_of_fresh(output), data); }

  const Scalar& scalar(ValueId id) const { return scalars_[instance_.slot(id)]; }
  void set_scalar(ValueId id, const Scalar& value) {
    scalars_[instance_.slot(id)] = value;
    if (is_loaded()) instance_.tell(id, value);
  }
  const Handle& handle(ValueId id) const { return handles_[instance_.slot(id)]; }
  void set_handle(ValueId id, Handle value) { handles_[instance_.slot(id)] = std::move(value); }

  const Ref<Record>& record(ValueId id) const { return records_[instance_.slot(id)]; }
  void set_record(ValueId id, Ref<Record> value) { records_[instance_.slot(id)] = std::move(value); }

  /// The step that runs says why it is the last one.
  void stop(Stop why) { stop_ = why; }
  Stop stopped() const { return stop_; }

  /// Where the rounds of its loop are, for the step that runs one.
  struct Rounds {
    uint32_t done = 0;
    bool asks = false, holds = false;
  };
  Rounds rounds;

 protected:
  friend class Instance;
  friend class CallStack;

  /// `memory` is of Instance::table_bytes(); the addresses in it are null.
  Activation(Instance& instance, char* memory);
  ~Activation();

  bool is_loaded() const { return instance_.loaded() == this; }
  void bind(size_t base, void* data) {
    bases_[base] = data;
    if (is_loaded()) instance_.bind(base, data);
  }
  /// Takes and gives a block of the allocator.
  void take(size_t base, size_t bytes);
  void give(size_t base, size_t bytes);
  void give_all();

  Instance& instance_;
  void** bases_;     // by base of the instance
  Scalar* scalars_;  // by slot
  Handle* handles_;
  Ref<Record>* records_;
  Stop stop_;
  RootActivation* root_ = nullptr;  // itself, where it is one
};

/// Memory for the tables of an activation, which outlives it.
struct TableMemory {
  explicit TableMemory(const Instance& instance) : memory(std::make_unique<char[]>(instance.table_bytes())) {}
  const std::unique_ptr<char[]> memory;
};

/// The activation of a graph that the program runs: its body, then its tail. One run at a time. What a run computes in
/// is taken from the allocator while it is needed: between runs it holds no memory but a small arena.
class RootActivation final : private TableMemory, public Activation {
 public:
  explicit RootActivation(Instance& instance);
  ~RootActivation();

  /// Everything that may fail; writes nothing but memory of the run and fresh outputs. Inputs must be bound. Throws
  /// what kernels throw, as Error. `interrupted` is asked after each node, those of nested and of called graphs
  /// included; it may be null. `fresh`, one for each graph output, become the storages of fresh ones that have none
  /// yet; without them these must be bound before. `lasting`: once the body is settled nothing is asked any more.
  Stop run_body(bool (*interrupted)(), std::span<Ref<Storage>> fresh = {}, bool lasting = false);
  /// The next run may take the memory of these tensors, one for each graph input, from them when it has read them for
  /// the last time; null: not of that one. Only inputs that were planned as consumable are.
  void consume(std::span<TensorImpl* const> tensors) { consumed_ = tensors; }
  /// The body that runs, or has run, came to where neither a check nor a condition could stop it any more.
  bool is_settled() const { return settled_; }
  /// The commit: can't fail.
  void run_tail();
  /// Ends a run whose body has run and whose tail won't; nothing where no run is under way.
  void end_run() {
    fresh_ = {};
    consumed_ = {};
    if (instance_.lends()) give_all();
  }

  size_t kept_bytes() const { return instance_.keeps_arena() ? instance_.plan().arena_bytes : 0; }

 private:
  friend class Instance;

  void make_fresh(size_t output);
  void let_go(size_t input);
  bool run_tape(std::span<const Instruction> tape, bool (*interrupted)());

  std::span<Ref<Storage>> fresh_;          // of the run
  std::span<TensorImpl* const> consumed_;  // of the run
  bool settled_ = false;
};

}  // namespace terra::graph
