// The ladder of a code object: what to do with the call that is about to happen, and what a result of it means.
#pragma once
#include "interpreter_hooks/frame_hook/code_record.h"

namespace terra::capture {

enum class Step : unsigned char { Run, Record, Serve, MeasureServed, MeasurePlain };

/// At every call of an eligible frame; counts it.
Step decide(CodeRecord& record);
/// A recording ended; `again`: a fact was relaxed, record the next call.
void recorded(CodeRecord& record, std::shared_ptr<Entry> entry, const Stop& why, bool again);
/// No entry held. True: this call is to be recorded.
bool missed(CodeRecord& record);
/// After a recording without entry: whether the next one is to end at `point` instead.
bool aim(CodeRecord& record, const CutPoint& point);
/// An entry has served the call.
inline void hit(CodeRecord& record) {
  record.hits++;
  record.misses_in_a_row = 0;
}
/// Whether times decide. Exact mode leaves no choice to a measurement, and the modes that test capture want it whether
/// it pays or not.
bool measures();
/// Calls under way on the thread that run plainly for the sake of a comparison. What they call is captured with them at
/// other times: nothing below is recorded.
inline thread_local constinit int comparisons_of_thread = 0;
/// The call that was to be a sample is over; `step` is Run where it could be none.
void measured(CodeRecord& record, Step step, double microseconds);
/// Capturing a function that calls itself doesn't pay: it is left alone, and times decide again about those around it.
void recursion_loses(CodeRecord& record);
/// Entries of `record` are about to be tried.
void serves(CodeRecord* record);
/// Graphs ask from now on whether building for new sizes pays.
void install_build_policy();
/// A recording of it has cost so much.
void paid_for_recording(CodeRecord& record, double microseconds);
/// An error of ours: the function runs plainly from now on. An exception of ours never reaches the program.
void broken(CodeRecord& record, const char* what);

}  // namespace terra::capture
