// Operands whose innermost dimension is too short to begin a loop for it.
//
//   delta.unsqueeze(-1) * a        # [16, 64, 1] * [64, 8]: 1024 rows of 8 elements
//
// Pieces of such operands are packed: their elements are laid behind each other, many rows at once, and a loop runs
// through all of them.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/cpu/iteration.h"

namespace terra::cpu {

/// Rows of fewer elements cost more to begin a loop for than to pack.
inline constexpr int64_t kShortRow = 32;

/// Elements of `size` bytes; strides in bytes. There is at least one dimension.
struct StridedElements {
  const char* data;
  std::span<const int64_t> sizes;
  std::span<const int64_t> strides;
  size_t size;
};

/// Lays elements [begin, begin + n), in the order of the dimensions, behind each other. n > 0.
void pack(const StridedElements& from, int64_t begin, int64_t n, char* to);

/// Walks a space with short rows and a dense output in long pieces. Inputs that are neither dense nor one element are
/// packed: those that repeat themselves once, the others piece by piece.
class PackedPieces {
 public:
  /// `sizes`: bytes per element, by operand. The space has to stay.
  PackedPieces(const Iteration& it, std::span<const int64_t> sizes);

  /// Otherwise there are no pieces.
  bool pays() const { return pays_; }

  /// Bytes between an operand's elements in all pieces.
  int64_t stride(int operand) const { return operand > 0 && is_one(operand) ? 0 : sizes_[operand]; }

  /// Calls body(pointers, n) for pieces of the elements [begin, end).
  template <class Body>
  void for_pieces(int64_t begin, int64_t end, Body body) const {
    Buffers buffers;
    for (int64_t i = begin; i < end;) {
      const int64_t n = piece_ - i % piece_ < end - i ? piece_ - i % piece_ : end - i;
      char* at[kMaxOperands];
      place(i, n, buffers, at);
      body(static_cast<char* const*>(at), n);
      i += n;
    }
  }

 private:
  /// Of one range, by operand; the elements [from, to) of a piece are there.
  struct Buffers {
    std::unique_ptr<char[]> memory[kMaxOperands];
    int64_t from[kMaxOperands] = {}, to[kMaxOperands] = {};
  };
  static constexpr int64_t kElements = 512;       ///< of a piece
  static constexpr int64_t kMostElements = 4096;  ///< of one whose operands repeat themselves

  bool is_dense(int operand) const { return period_[operand] == 0; }
  bool is_one(int operand) const { return period_[operand] == 1; }
  void place(int64_t begin, int64_t n, Buffers& buffers, char** at) const;

  const Iteration& it_;
  int64_t sizes_[kMaxOperands];
  /// After so many elements an operand begins anew. 0: it is dense.
  int64_t period_[kMaxOperands];
  int64_t piece_ = kElements;
  bool pays_ = false;
};

}  // namespace terra::cpu
