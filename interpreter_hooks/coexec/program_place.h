// Where the program is: the frames that run on this thread and the instruction of each.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/coexec/location.h"
#include "interpreter_hooks/coexec/code_loops.h"

namespace terra::coexec {

/// More frames than this are a recursion. To say where each of its ops is would take time that grows with the depth:
/// they are in no place.
inline constexpr size_t kDeepest = 256;

/// A word for the call sites that lead to where the thread is; 0: too deep. Two places have different words but for a
/// chance of 2^-64; nothing but speed rests on that.
uint64_t place_word();

/// Where the thread is in the program's own text: the library's frames above are left out.
SourceLine own_line();

/// The frames themselves, outermost first; valid until the next call. None: too deep.
class ProgramPlace {
 public:
  FrameChain read(CodeLoops& loops);

 private:
  std::vector<FramePoint> chain_;
};

}  // namespace terra::coexec
