// How the values of registers were reached, in words that another recording of the code comes to as well. Names don't
// tell that: objects of two classes, functions or modules can be reached by what reads the same.
#pragma once
#include "interpreter_hooks/guards/kinds.h"

#include <cstdint>
#include <vector>

namespace terra::capture {

class Recording;

class ValueNumbers {
 public:
  explicit ValueNumbers(Recording& recording) : r_(recording) {}
  /// Zero where that can't be said: of numbers that are drawn, read from a clock or computed by the graph.
  uint64_t of(Register reg);

 private:
  uint64_t made_by(const Word* at) const;
  uint64_t found(Register reg) const;
  uint64_t constant(Register reg) const;

  Recording& r_;
  int looked_at_ = 0;            ///< of the entry program
  std::vector<uint64_t> known_;  ///< by register
};

}  // namespace terra::capture
