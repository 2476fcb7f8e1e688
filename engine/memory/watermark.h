// How much memory the process should hold for its tensors, live blocks and idle ones together: the high-water mark of
// what was in use at once, and more where giving back is regretted.
//
// A step of training asks for the same sizes again and again, so idle blocks are kept. But blocks of a phase that has
// passed (the first steps, which ran in the interpreter) are no use to the next one (a graph with one block for all its
// values). So before more is asked of the system than what was ever in use at once, idle blocks are given back.
//
// Too often would be slow: the system clears each page it lends. A block that is wanted again after it went back is a
// regret, and each regret raises the bound. The bytes regretted are bounded by kRegrets times the memory that a program
// would hold if nothing ever went back: a steady loop stops giving back after its first rounds.
#pragma once
#include <array>
#include <cstdint>

#include "engine/memory/size_class.h"

namespace terra::memory {

class Watermark {
 public:
  /// So many bytes may lie idle beside what was in use at the worst time.
  static constexpr int64_t kSlack = int64_t{16} << 20;
  /// A block that was given back and wanted again so often is paid for: that much more may be held.
  static constexpr int64_t kRegrets = 2;

  /// The bytes that may be held once a block of the class has been made, while `live` others are in use.
  int64_t bound(const SizeClass& cls, int64_t live) {
    if (given_back_[cls.index] > 0) {
      --given_back_[cls.index];
      regret_ += cls.bytes / kRegrets;
    }
    most_live_ = std::max(most_live_, live + cls.bytes);
    return most_live_ + kSlack + regret_;
  }
  void gave_back(int index) { ++given_back_[index]; }

 private:
  std::array<int64_t, kClasses> given_back_{};  ///< blocks of each class
  int64_t most_live_ = 0, regret_ = 0;          ///< bytes
};

}  // namespace terra::memory
