#include "graph/coexec/location.h"

namespace terra::coexec {

CallPath CallPaths::number(FrameChain chain) {
  CallPath path = 0;
  for (const FramePoint& frame : chain) {
    const auto next = static_cast<CallPath>(steps_.size() + 1);
    path = steps_.try_emplace({path, frame.code, frame.instruction}, next).first->second;
  }
  return path;
}

}  // namespace terra::coexec
