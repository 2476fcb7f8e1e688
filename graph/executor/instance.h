// A plan bound to kernels and memory: a flat tape of {function, block} records.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/tensor/storage.h"
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

/// One run at a time. Inputs must be bound before `run_body`; addresses stay bound between runs. What a run computes in
/// is taken from the allocator while it is needed: between runs an instance holds no memory but a small arena.
class Instance {
 public:
  explicit Instance(Plan plan);
  ~Instance();
  Instance(const Instance&) = delete;

  const Plan& plan() const { return plan_; }

  void bind_input(size_t input, void* data) { bind(input_addresses_[input], data); }
  const void* bound_input(size_t input) const { return input_addresses_[input].data; }
  void bind_scalar(size_t input, const Scalar& value) { set_scalar(plan_.graph.inputs[input], value); }
  void bind_handle(size_t input, Handle value) { handles_[plan_.graph.inputs[input]] = std::move(value); }
  /// Memory for a fresh graph output, of the bytes of its value.
  void bind_fresh(size_t output, void* data) { bind(fresh_addresses_[output], data); }

  /// Everything that may fail; writes nothing but memory of the run and fresh outputs. Throws what kernels throw, as
  /// Error. `interrupted` is asked after each node, those of nested graphs included; it may be null. `fresh`, one for
  /// each graph output, become the storages of fresh ones that have none yet; without them these must be bound before.
  /// `lasting`: once the body is settled nothing is asked any more.
  Stop run_body(bool (*interrupted)(), std::span<Ref<Storage>> fresh = {}, bool lasting = false);
  /// The next run may take the memory of these tensors, one for each graph input, from them when it has read them for
  /// the last time; null: not of that one. Only inputs that were planned as consumable are.
  void consume(std::span<TensorImpl* const> tensors) { consumed_ = tensors; }
  /// The body that runs, or has run, came to where neither a check nor a condition could stop it any more.
  bool is_settled() const { return settled_; }
  /// Whether that is so before the memory of this fresh output is first written.
  bool is_made_settled(size_t output) const;
  /// The commit: can't fail.
  void run_tail();
  /// Ends a run whose body has run and whose tail won't; nothing where no run is under way.
  void end_run() {
    fresh_ = {};
    consumed_ = {};
    if (lends_) give_all();
  }

  const Scalar& scalar(ValueId id) const { return scalars_[id]; }
  void set_scalar(ValueId id, const Scalar& value);
  const Handle& handle(ValueId id) const { return handles_[id]; }
  void set_handle(ValueId id, Handle value) { handles_[id] = std::move(value); }
  void stop(Stop why) { stop_ = why; }
  /// What the body that is running is interrupted by, or null.
  auto poll() const { return poll_; }

  size_t kept_bytes() const { return keeps_arena() ? arena_.bytes : 0; }
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
  /// A buffer with a block of its own.
  struct Lent final : Block {
    size_t bytes = 0;
    void* data = nullptr;  ///< while a run has it
    Bound bound;
  };
  /// Makes the storage of a fresh output.
  struct Making final : Block {
    size_t output = 0;
    size_t at = 0;  ///< in the body
  };
  /// Lets an input go.
  struct Consuming final : Block {
    size_t input = 0;
  };
  /// What is taken before a step and given back behind it.
  struct Turnover {
    std::vector<Block*> taken, given;
    std::vector<std::unique_ptr<Making>> made;
    std::vector<std::unique_ptr<Consuming>> consumed;
  };

  static void bind(Bound& bound, void* data);
  static bool take(Block& lent, Instance& instance);
  static bool give(Block& lent, Instance& instance);
  static bool make_fresh(Block& making, Instance& instance);
  static bool let_go(Block& consuming, Instance& instance);
  static void give_back(Lent& lent);
  void give_all();
  void make_fresh(size_t output);
  bool keeps_arena() const;
  std::vector<Turnover> plan_turnover();
  void add_steps();
  void add_step(const Step& step, std::vector<Instruction>& tape);
  void add_block(std::unique_ptr<Block> block, bool (*run)(Block&, Instance&), std::vector<Instruction>& tape);
  bool run_tape(std::span<const Instruction> tape, bool (*interrupted)());

  Plan plan_;
  Lent arena_;
  std::vector<std::unique_ptr<Lent>> lent_;
  std::vector<Bound> input_addresses_, fresh_addresses_;
  std::vector<size_t> early_;              // fresh outputs that are made before the first step
  std::vector<const Making*> made_;        // the others
  std::span<Ref<Storage>> fresh_;          // of the run
  std::span<TensorImpl* const> consumed_;  // of the run
  size_t settling_ = 0;                    // in the body: what comes behind it can't stop it
  bool settled_ = false;
  std::vector<Scalar> scalars_;                          // by value
  std::vector<std::vector<KernelArg*>> scalar_readers_;  // by value
  std::vector<Handle> handles_;                          // by value
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Instruction> body_, tail_;
  bool lends_ = false;  // something is taken for each run
  Stop stop_;
  bool (*poll_)() = nullptr;
};

}  // namespace terra::graph
