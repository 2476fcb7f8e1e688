// A plan bound to kernels: a flat tape of {function, block} records. What changes from run to run is in activations.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "engine/device/backend.h"
#include "graph/executor/plan.h"
#include "kernels/abi/kernel.h"

namespace terra::graph {

class Activation;
class Instances;

/// Arguments of one instruction. Blocks are made once, for all activations.
class Block {
 public:
  virtual ~Block() = default;
};

/// `run` returns false to stop the tape (the activation says why), or where another activation has been entered.
struct Instruction {
  bool (*run)(Block& block, Activation& activation) = nullptr;
  Block* block = nullptr;
  const Step* step = nullptr;  ///< of the plan; null: memory comes or goes
};

/// Memory is known by *bases*: the arena, the scalars, each input, each fresh output, each block that is lent. Kernels
/// hold addresses, which are those of the activation that is loaded.
class Instance {
 public:
  static constexpr size_t kArena = 0, kScalars = 1;

  /// `callees` are what calls find; null: instances of its own, of the graph's table.
  explicit Instance(Plan plan, Instances* callees = nullptr);
  ~Instance();
  Instance(const Instance&) = delete;

  const Plan& plan() const { return plan_; }
  /// Of the plan's device.
  const Backend& backend() const { return backend_; }
  /// Null in programs without calls.
  Instances* callees() const { return callees_; }

  std::span<const Instruction> body() const { return body_; }
  std::span<const Instruction> tail() const { return tail_; }
  /// In the body: what comes behind it can't stop it.
  size_t settling() const { return settling_; }
  /// Whether the body is settled before the memory of this fresh output is first written.
  bool is_made_settled(size_t output) const;
  /// Fresh outputs that are made before the first step.
  const std::vector<size_t>& early() const { return early_; }
  /// The arena is small: an activation has it for life.
  bool keeps_arena() const;
  /// Something is taken for each run.
  bool lends() const { return lends_; }
  /// Calls f(base, bytes) for each block that is lent.
  template <class F>
  void each_lent(F&& f) const {
    for (size_t k = 0; k < lent_bytes_.size(); ++k) f(first_lent_ + k, lent_bytes_[k]);
  }

  // ---- what an activation consists of ----------------------------------------------------------------------------

  size_t bases() const { return bases_.size(); }
  size_t scalars() const { return scalars_; }
  size_t handles() const { return handles_; }
  size_t records() const { return records_; }
  size_t table_bytes() const;
  size_t base_of_input(size_t input) const { return kScalars + 1 + input; }
  size_t base_of_fresh(size_t output) const { return first_fresh_ + output; }
  /// Among the activation's scalars, handles or records.
  size_t slot(ValueId id) const { return slots_[id]; }

  /// The kernels get the addresses and numbers of this activation, and what is bound to it until another one is loaded.
  void load(Activation& activation) {
    if (loaded_ != &activation) load_other(activation);
  }
  const Activation* loaded() const { return loaded_; }
  void forget(const Activation& activation) {
    if (loaded_ == &activation) loaded_ = nullptr;
  }
  void bind(size_t base, void* data) {
    Base& b = bases_[base];
    if (b.data == data) return;
    b.data = data;
    for (const Address& a : b.addresses) *a.slot = static_cast<char*>(data) + a.offset;
  }
  void tell(ValueId scalar, const Scalar& value) {
    for (KernelArg* arg : readers_[slot(scalar)]) arg->number = value;
  }

  // ---- for blocks under construction -----------------------------------------------------------------------------

  /// `*slot` becomes the address of that byte of the buffer, whenever it is bound.
  void resolve(void** slot, int32_t buffer, int64_t offset);
  /// `*arg` follows the scalar.
  void follow(KernelArg* arg, ValueId scalar) { readers_[slot(scalar)].push_back(arg); }

 private:
  struct Address {
    void** slot;
    int64_t offset;
  };
  struct Base {
    void* data = nullptr;
    std::vector<Address> addresses;
  };
  /// A block that comes before a step and goes behind one.
  struct Lent final : Block {
    size_t base = 0, bytes = 0;
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

  static bool take(Block& lent, Activation& activation);
  static bool give(Block& lent, Activation& activation);
  static bool make_fresh(Block& making, Activation& activation);
  static bool let_go(Block& consuming, Activation& activation);
  void number_values();
  void load_other(Activation& activation);
  std::vector<Turnover> plan_turnover();
  void add_steps();
  void add_step(const Step& step, std::vector<Instruction>& tape);
  void add_block(std::unique_ptr<Block> block, bool (*run)(Block&, Activation&), std::vector<Instruction>& tape,
                 const Step* step = nullptr);

  Plan plan_;
  const Backend& backend_;
  std::unique_ptr<Instances> own_callees_;
  Instances* callees_;
  Activation* loaded_ = nullptr;
  std::vector<Base> bases_;
  size_t first_fresh_ = 0, first_lent_ = 0;
  std::vector<size_t> lent_bytes_;
  std::vector<uint32_t> slots_;  // by value
  size_t scalars_ = 0, handles_ = 0, records_ = 0;
  std::vector<std::vector<KernelArg*>> readers_;  // by slot of a scalar
  std::vector<size_t> early_;
  std::vector<const Making*> made_;  // the other fresh outputs
  size_t settling_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Instruction> body_, tail_;
  bool lends_ = false;
};

}  // namespace terra::graph
