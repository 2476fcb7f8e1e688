// Leaving a frame in the middle: what could be recorded becomes an entry, and CPython goes on at the next instruction.
//
// A recording has no undo. Where it meets something that it can't take, it stops for good, but remembers the last
// instruction of the root frame before it (inside inlined callees: the call in the root). The next recording of the
// same code is aimed there: when the frame comes to that instruction, the recording ends with an entry of what was
// seen, which holds everything that is alive at that moment. So at an instruction of the root frame, always between two
// instructions, shadow and interpreter agree, and nothing has to be taken back.
//
// The rest of the frame is captured in turn, from behind the instruction that stopped the recording:
//     y = model(x)             # one entry, which ends before the call of open
//     text = open(p).read()    # performed as it stands (cpython/step_over.h)
//     return y * len(text)     # another entry, whose inputs are the frame's slots
#pragma once
#include "interpreter_hooks/entry/reasons.h"
#include "interpreter_hooks/recorder/core/value.h"

#include <vector>

namespace terra::capture {

/// The `visit`-th time (from 1) that the root frame comes to the instruction at `offset` (code units).
struct CutPoint {
  int offset = -1;
  int visit = 0;
  Stop why;  ///< what the recording can't take behind it

  bool valid() const { return offset >= 0; }
  bool operator==(const CutPoint& other) const { return offset == other.offset && visit == other.visit; }
};

/// How many user-level tensor calls make a cut worth its while; a backward() always does.
constexpr size_t least_calls_before_cut = 2;

/// Whether the frame can be left before the thing that a recording stopped for.
bool allows_cut(Reason reason);

/// What a recording knows of the places where its root frame could be left.
struct CutSearch {
  size_t least_calls = least_calls_before_cut;
  bool resumes = false;  ///< the rest of a cut frame may be captured, too: a cut before something that can be stepped
                         ///< over (cpython/step_over.h) need not have gained anything
  std::vector<CutPoint> aims;  ///< where this recording is to end
  CutPoint taken;              ///< the aim that it has come to
  CutPoint refused;            ///< the last aim where not everything alive could be rebuilt
  CutPoint next;               ///< after a stop: where the next one should end; invalid: nowhere
  CutPoint here;               ///< the last instruction of the root at which the evaluator can be entered
  size_t calls_here = 0;
  CutPoint good;  ///< the last one, between two statements, at which everything alive could be rebuilt
  size_t calls_good = 0;
  size_t next_look = 0;           ///< number of calls from which on another place is looked at
  std::vector<int> visits;        ///< per offset
  const void* handled = nullptr;  ///< the exception that was being handled when the frame began
  std::vector<Value> arguments;   ///< the frame's slots when the recording began: locals, then the stack
};

}  // namespace terra::capture
