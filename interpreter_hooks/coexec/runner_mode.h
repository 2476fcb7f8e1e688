// TERRA_RUNNER: how the iterations of a co-executed program run.
#pragma once

namespace terra::coexec {

enum class RunnerMode : unsigned char {
  Measured,  ///< inline, beside or left to the frame tier, whichever is fastest; in exact mode beside
  Inline,    ///< what is put off is computed on the program's thread
  Serial,    ///< by the graph runner, with the program waiting for it: lazy evaluation
  Beside,    ///< by the graph runner, while the program goes on
  Turns,     ///< for tests: inline, beside and left to the frame tier by turns, a few iterations each
};

}  // namespace terra::coexec
