// Runs of entries that are put off: below functions that call themselves, many calls run the same graph, one after the
// other, before anybody asks for what they make. They wait for each other (recursive/deferral/deferred_calls.h).
#pragma once
#include "graph/cache/switched.h"
#include "interpreter_hooks/frame_hook/code_record.h"

namespace terra::capture {

/// How many calls of functions that call themselves are under way on this thread.
inline thread_local constinit int recursion_depth = 0;

/// Those that call such a function from outside, perhaps once for each structure of a batch, are captured whatever time
/// they take: what they do between these calls decides how many of them can wait for each other.
void note_callers();

/// A call of one.
class RecursiveCall {
 public:
  explicit RecursiveCall(const CodeRecord& record) : counts_(record.recursive) {
    if (!counts_) return;
    if (recursion_depth++ == 0) note_callers();
  }
  ~RecursiveCall() { recursion_depth -= counts_; }
  RecursiveCall(const RecursiveCall&) = delete;

 private:
  const bool counts_;
};

/// The guards of `entry` hold and nothing has to be compared: true when the run is put off, `outputs` being what it
/// will make. Throws Error for values that an op refuses.
bool defer_run(Entry& entry, const graph::PathInputs& inputs, std::vector<graph::RunOutput>& outputs);

}  // namespace terra::capture
