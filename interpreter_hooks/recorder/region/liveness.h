// Which variables of a function can still be asked for, from an instruction on.
#pragma once
#include "interpreter_hooks/recorder/core/frames.h"

#include <vector>

namespace terra::capture {

/// Of one code. Conservative: cells count as alive everywhere, and so does everything in code that can ask for its
/// variables by name.
class Liveness {
 public:
  explicit Liveness(const ShadowFrame& frame);

  /// Whether slot `local` may be read or deleted once the instruction at `offset` (code units) has done its work.
  bool behind(int offset, size_t local) const { return behind_[static_cast<size_t>(offset)][local]; }

 private:
  using Slots = std::vector<bool>;
  std::vector<Slots> behind_;  ///< by offset
};

}  // namespace terra::capture
