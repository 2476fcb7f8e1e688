// Runs of entries that are put off: below functions that call themselves, many calls run the same graph, one after the
// other, before anybody asks for what they make. They wait for each other (recursive/deferral/deferred_calls.h).
#pragma once
#include "graph/cache/switched.h"
#include "interpreter_hooks/frame_hook/code_record.h"
#include "interpreter_hooks/frame_hook/stopwatch.h"

#include <optional>

namespace terra::capture {

/// How many calls of functions that call themselves are under way on this thread.
inline thread_local constinit int recursion_depth = 0;

/// Those that call such a function from outside, perhaps once for each structure of a batch, are captured whatever time
/// they take: what they do between these calls decides how many of them can wait for each other.
void note_callers();

/// A call of one from outside runs plainly, with all that it calls, to compare.
inline thread_local constinit bool recursion_is_plain = false;

/// A call of one.
class RecursiveCall {
 public:
  explicit RecursiveCall(CodeRecord& record) : record_(record), counts_(record.recursive) {
    if (counts_ && recursion_depth++ == 0) begin();
  }
  ~RecursiveCall() {
    if (counts_ && --recursion_depth == 0) end();
  }
  RecursiveCall(const RecursiveCall&) = delete;

 private:
  void begin();
  void end();

  CodeRecord& record_;
  const bool counts_;
  RecursionAccount::Sample sample_ = RecursionAccount::Sample::None;
  std::optional<Stopwatch> watch_;
  uint64_t operations_ = 0;
  long recordings_ = 0;
  uint64_t built_ = 0;
};

/// The guards of `entry` hold and nothing has to be compared: true when the run is put off, `outputs` being what it
/// will make. Throws Error for values that an op refuses.
bool defer_run(Entry& entry, const graph::PathInputs& inputs, std::vector<graph::RunOutput>& outputs);

}  // namespace terra::capture
