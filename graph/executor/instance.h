// A plan bound to kernels and memory: a flat tape of {function, block} records.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/memory/allocator.h"
#include "graph/executor/plan.h"
#include "graph/ir/handle.h"
#include "kernels/abi/kernel.h"

namespace terra::graph {

class Instance;

/// What ended a run of the tape before its end.
struct Stop {
  enum class Why : uint8_t { None, AssertFailed, Interrupted };
  Why why = Why::None;
  uint32_t assert_index = 0;
};

/// Arguments of one instruction. Blocks are made once; run returns false to stop the tape (the instance says why).
class Block {
 public:
  virtual ~Block() = default;
};

struct Instruction {
  bool (*run)(Block& block, Instance& instance) = nullptr;
  Block* block = nullptr;
};

/// One run at a time. Inputs and fresh outputs must be bound before `run_body`; addresses stay bound between runs.
class Instance {
 public:
  explicit Instance(Plan plan);
  ~Instance();
  Instance(const Instance&) = delete;

  const Plan& plan() const { return plan_; }

  void bind_input(size_t input, void* data) { bind(input_addresses_[input], data); }
  void bind_scalar(size_t input, const Scalar& value) { set_scalar(plan_.graph.inputs[input], value); }
  void bind_handle(size_t input, Handle value) { handles_[plan_.graph.inputs[input]] = std::move(value); }
  /// Memory of `fresh_bytes(output)` bytes for a fresh graph output.
  void bind_fresh(size_t output, void* data) { bind(fresh_addresses_[output], data); }
  size_t fresh_bytes(size_t output) const { return fresh_bytes_[output]; }

  /// Everything that may fail; writes nothing but the arena and fresh outputs. Throws what kernels throw, as Error.
  /// `interrupted` is asked after each node, those of nested graphs included; it may be null.
  Stop run_body(bool (*interrupted)());
  /// The commit: can't fail.
  void run_tail();

  const Scalar& scalar(ValueId id) const { return scalars_[id]; }
  void set_scalar(ValueId id, const Scalar& value);
  const Handle& handle(ValueId id) const { return handles_[id]; }
  void set_handle(ValueId id, Handle value) { handles_[id] = std::move(value); }
  void stop(Stop why) { stop_ = why; }
  /// What the body that is running is interrupted by, or null.
  auto poll() const { return poll_; }

  size_t steps() const { return body_.size() + tail_.size(); }

  // ---- for blocks under construction -----------------------------------------------------------------------------

  /// `*slot` becomes the address of that byte of the buffer, now or whenever it is bound.
  void resolve(void** slot, int32_t buffer, int64_t offset);
  /// `*arg` follows the scalar.
  void follow(KernelArg* arg, ValueId scalar);

 private:
  struct Address {
    void** slot;
    int64_t offset;
  };
  struct Bound {
    void* data = nullptr;
    std::vector<Address> addresses;
  };
  static void bind(Bound& bound, void* data);
  void add_step(const Step& step, std::vector<Instruction>& tape);
  void add_block(std::unique_ptr<Block> block, bool (*run)(Block&, Instance&), std::vector<Instruction>& tape);
  bool run_tape(const std::vector<Instruction>& tape, bool (*interrupted)());

  Plan plan_;
  char* arena_ = nullptr;
  std::vector<Bound> input_addresses_, fresh_addresses_;
  std::vector<size_t> fresh_bytes_;                      // by output; 0 for scalars
  std::vector<Scalar> scalars_;                          // by value
  std::vector<std::vector<KernelArg*>> scalar_readers_;  // by value
  std::vector<Handle> handles_;                          // by value
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Instruction> body_, tail_;
  Stop stop_;
  bool (*poll_)() = nullptr;
};

}  // namespace terra::graph
