// What has nothing for capture to find runs without the hook: CPython's full speed is worth more there.
#pragma once
#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/frame_hook/hook.h"

#include <algorithm>

namespace terra::capture {

/// At the end of a stretch of frames, which is quiet if neither a tensor operation nor a served call lies in it. When
/// enough of them in a row were quiet, the hook is taken out, which gives CPython its full speed back; the
/// next tensor operation puts it in again. Each time it had to come back it waits for twice as many: what it misses of
/// a program that works on tensors now and then is bounded.
void consider_rest();
inline void frame_seen() {
  if (terra_stretch_ends()) [[unlikely]]
    consider_rest();
}

bool is_resting();

/// A call runs without the hook, with all that it calls, where that can be.
class Unhooked {
 public:
  Unhooked();
  ~Unhooked();
  Unhooked(const Unhooked&) = delete;

 private:
  bool is_out_;
};

/// The calls of one function that was given up. When some in a row have led to no served call and no recording, the
/// next ones run without the hook, but for one now and then that is looked at again.
class QuietCalls {
 public:
  bool next_runs_unhooked() { return quiet_ >= enough && ++calls_ % look_at_each != 0; }
  /// The hook was in during a call.
  void looked_at(bool was_quiet) { quiet_ = was_quiet ? std::min(quiet_ + 1, enough) : 0; }

  static constexpr unsigned enough = 4, look_at_each = 16;

 private:
  unsigned quiet_ = 0, calls_ = 0;
};

}  // namespace terra::capture
