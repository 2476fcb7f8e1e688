// TERRA_RUNNER: where the ops of a co-executed program's iterations are computed.
#pragma once

namespace terra::coexec {

enum class RunnerMode : unsigned char {
  Measured,  ///< inline or beside, whichever is faster; in exact mode beside
  Inline,    ///< on the program's thread
  Serial,    ///< by the graph runner, with the program waiting for it: lazy evaluation
  Beside,    ///< by the graph runner, while the program goes on
};

}  // namespace terra::coexec
