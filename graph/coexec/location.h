// Where in the program an op is called: the call sites that lead to it and the loops that it is in.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

namespace terra::coexec {

/// A loop of the program's text. Numbers are the caller's.
using LoopId = uint32_t;

/// A frame that runs at an op: what it executes, and where it is.
struct FramePoint {
  uint64_t code = 0;        ///< of the program's text
  uint64_t activation = 0;  ///< two calls of one function that are under way at once differ in it
  int32_t instruction = 0;
  std::span<const LoopId> loops;  ///< loops of the code around the instruction, innermost last
};

/// The frames that run at an op, outermost first.
using FrameChain = std::span<const FramePoint>;

/// A sequence of call sites, by number.
using CallPath = uint32_t;

/// Numbers sequences of call sites: one line reached by way of two calls is two places.
class CallPaths {
 public:
  CallPath number(FrameChain chain);

 private:
  std::map<std::tuple<CallPath, uint64_t, int32_t>, CallPath> steps_;  // behind a path, one call site more
};

}  // namespace terra::coexec
