// What the frame tier knows about one code object, from its first call to the end of the process.
#pragma once
#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/entry/reasons.h"
#include "interpreter_hooks/entry/speculation.h"
#include "interpreter_hooks/frame_hook/entry_table.h"
#include "interpreter_hooks/frame_hook/idle_unhook.h"
#include "interpreter_hooks/frame_hook/profitability.h"
#include "interpreter_hooks/frame_hook/recursion_account.h"
#include "interpreter_hooks/recorder/core/cuts.h"

#include <memory>
#include <string>
#include <vector>

namespace terra::capture {

/// The ladder (decide.cpp).
enum class State : unsigned char {
  Cold,      ///< counting calls
  Hot,       ///< the next call is recorded
  Captured,  ///< has entries; a miss may lead to another recording
  Settled,   ///< keeps its entries, is not recorded any more
  GivenUp,   ///< runs plainly for good
};
const char* state_name(State state);

constexpr uint32_t all_calls = UINT32_MAX;  ///< as TerraCodeNote::unseen

/// Of a whole function, or of the rest of its frames from an instruction on: what follows a cut.
struct CodeRecord : TerraCodeNote {
  CodeRecord() : TerraCodeNote{0} {}
  long calls_made() const { return eligible && state != State::GivenUp ? calls - unseen : calls; }

  std::string name, file;
  int line = 0;
  State state = State::Cold;
  bool eligible = true;             ///< an ordinary function
  bool takes_direct_calls = false;  ///< one that may be served without a frame (direct_call.h)
  long calls = 0;                   ///< those to come that need not be seen included; up to the one that gave it up
  long next_recording = 0;          ///< number of the call that may be recorded
  long next_try = 0;                ///< number of the call that entries are tried for, where they keep missing
  bool tensor_work = false;         ///< a call of it led to eager tensor ops
  int recordings = 0;
  int failures = 0;  ///< recordings in a row that gave no entry
  long hits = 0, misses = 0, misses_in_a_row = 0, fallbacks = 0;
  const Entry* last_served = nullptr;  ///< to be compared with others; it may be gone
  Stop why;                            ///< the last recording that gave no entry
  std::string last_miss;
  Speculation speculation;
  long useful_hits = 0;        ///< hits by entries that have tensor work or come to the end of the frame
  long cut_hits = 0;           ///< hits after which CPython went on in the middle of the frame
  long hits_again = 0;         ///< hits by a part that the frame had come to before, in a loop
  long led_on = 0;             ///< of those, into a part that has entries
  long led_nowhere = 0;        ///< into one that was given up
  std::vector<CutPoint> cuts;  ///< where recordings are to leave the frame
  int aims = 0;                ///< added to `cuts` in a row, without an entry
  EntryTable entries;
  Profitability profitability;
  long calls_before = 0;  ///< `calls` when idle entries were last looked for
  bool dead = false;      ///< the code object is gone; what the report says of it stays for a while
  double recording_ms = 0;

  bool recursive = false;         ///< the function calls itself (recorder/calls/recursion.h)
  bool recorded_alone = false;    ///< what it has was recorded before that was known: calls of it were not put off then
  RecursionAccount recursion;     ///< then: whether that pays
  QuietCalls quiet_calls;         ///< and when it was given up
  bool around_recursion = false;  ///< recordings end before calls of one that does
  bool is_rest = false;
  bool resumes = true;                             ///< rests of its frames are captured as far as is known
  int begins_at = 0;                               ///< of a rest: its first instruction
  std::vector<std::shared_ptr<CodeRecord>> rests;  ///< of a whole function
};

/// The record of a code object; made at the first call. Null for code that can't carry one.
CodeRecord* record_of(PyCodeObject* code);
/// The record of the rest of `whole` from that instruction on; made at need. Null where there are too many.
CodeRecord* rest_of(CodeRecord& whole, PyCodeObject* code, int instruction);
/// The record if there is one.
CodeRecord* find_record(PyCodeObject* code);
/// Of every code object that was called, with the last few hundred of the dead that were recorded.
const std::vector<std::shared_ptr<CodeRecord>>& all_records();
/// An entry was made. Entries keep what they refer to alive, their own function included when it is in a cycle that the
/// collector cannot see through: so when thousands of functions have entries, those that were not called since the last
/// time of asking lose theirs, and are recorded again at need.
void drop_idle_entries();
/// Drops entries that rely on something that has died since: before entries are looked at.
void drop_stale_entries_now();
inline constinit uint64_t files_seen_stale = 0;
inline void drop_stale_entries() {
  if (files_seen_stale != files_gone_stale) [[unlikely]]
    drop_stale_entries_now();
}
/// Forgets everything: terra.capture.reset().
void reset_records();

}  // namespace terra::capture
