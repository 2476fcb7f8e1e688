// Where the program is: the frames that run on this thread and the instruction of each.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/coexec/location.h"
#include "interpreter_hooks/coexec/code_loops.h"

namespace terra::coexec {

/// A word for the call sites that lead to where the thread is. Two places have different words but for a chance of
/// 2^-64; nothing but speed rests on that.
uint64_t place_word();

/// Where the thread is in the program's own text: the library's frames above are left out.
SourceLine own_line();

/// The frames themselves, outermost first; valid until the next call.
class ProgramPlace {
 public:
  FrameChain read(CodeLoops& loops);

 private:
  std::vector<FramePoint> chain_;
};

}  // namespace terra::coexec
