// The tiled interpreter of elementwise chains.
//
// All ops of a chain run over one iteration space, in tiles that stay in the L1 cache: a tile of every intermediate
// value is computed by the same inner loop that eager execution uses (kernels/abi/kernel.h: the value of an element
// doesn't depend on where loops are split), so fused and eager results are equal bit for bit.
#pragma once
#include <memory>
#include <vector>

#include "graph/executor/plan.h"
#include "kernels/abi/kernel.h"

namespace terra::graph {

/// One elementwise op or chain, bound to memory once its operands have addresses. Not movable.
class FusedBlock {
 public:
  FusedBlock(const Plan& plan, const Node& node);

  /// What needs an address: operand `i` at buffer and byte offset.
  struct Address {
    char** data;
    int32_t buffer;
    int64_t offset;
  };
  std::vector<Address> addresses;
  /// Scalar values that steps read as attributes or operands.
  struct Number {
    KernelArg* arg;
    ValueId scalar;
  };
  std::vector<Number> numbers;

  void run() const;

 private:
  /// Where a step finds or puts one of its operands.
  enum class SlotKind : uint8_t {
    Memory,   ///< contiguous over the iteration space: base + index * step
    One,      ///< a single element
    Strided,  ///< anything else
    Tile,     ///< scratch of this tile
  };
  struct Slot {
    SlotKind kind = SlotKind::Tile;
    uint8_t size = 4;      ///< bytes per element
    char* data = nullptr;  ///< Memory, One, Strided
    int32_t strided = -1;  ///< Strided: index into strided_
    int32_t tile = -1;     ///< scratch number: Tile always, Strided in gather mode
  };
  struct StepRecord {
    ElementwiseLoop loop = nullptr;
    const KernelArg* params = nullptr;
    uint32_t first = 0, count = 0;  ///< operands_[first..first + count): the output's slot, then the inputs'
  };
  struct Constant {
    alignas(8) char bytes[kMaxElementSize];
  };
  /// Byte strides of a strided operand over the collapsed dimensions.
  struct StridedInput {
    int32_t slot = 0;
    std::vector<int64_t> strides;
  };

  int32_t add_external(const Place& place, const Dims& space, bool output);
  void add_step(const Graph& g, const Node& n, const std::vector<int32_t>& slot_of_value, int32_t out);
  int32_t constant_slot(const Scalar& s, DType dtype);
  void collapse(const Dims& space);
  void assign_tiles(const std::vector<int32_t>& last_read);
  void choose_tile();

  void run_flat(int64_t begin, int64_t end) const;
  void run_rows(int64_t begin, int64_t end) const;
  void run_tile(int64_t begin, int64_t n, char* scratch, char* const* strided_at) const;
  void gather(const StridedInput& input, int64_t begin, int64_t n, char* to) const;

  std::vector<Slot> slots_;
  std::vector<uint32_t> operands_;
  std::vector<StepRecord> steps_;
  std::vector<std::vector<KernelArg>> params_;
  std::vector<std::unique_ptr<Constant>> constants_;
  std::vector<StridedInput> strided_;
  std::vector<int64_t> dims_;  ///< collapsed sizes, innermost last; empty when nothing is strided
  std::vector<Place> kept_;    ///< places of strided operands until collapsed
  int64_t numel_ = 0;
  int64_t tile_ = 0;        ///< elements
  int32_t tiles_ = 0;       ///< scratch tiles
  int64_t tile_bytes_ = 0;  ///< of one scratch tile
  int64_t grain_ = 0;
  bool gather_ = false;
};

}  // namespace terra::graph
