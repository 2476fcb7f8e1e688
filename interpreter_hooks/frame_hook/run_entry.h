// One run of a captured entry: guards, graph, commit, effects.
#pragma once
#include <string>
#include <vector>

#include "graph/cache/switched.h"
#include "interpreter_hooks/entry/speculation.h"
#include "interpreter_hooks/verify/verify.h"

namespace terra::capture {

enum class Outcome : unsigned char {
  Done,         ///< everything is published; the result is what the frame returns (or null with an exception)
  Missed,       ///< a guard did not hold; nothing has happened
  Failed,       ///< an assert in the graph, an error of an op, a refusal; nothing has happened
  Injected,     ///< the same by fault injection
  Interrupted,  ///< a signal waits for its handler; nothing has happened
  Busy,         ///< the graph fits and yet doesn't serve this run (RunStatus::Busy); nothing has happened
  Overtaken,    ///< another thread changed what the run rested on; nothing has happened
  Due,          ///< the run is to be checked (verify_entry) before it serves anybody; nothing has happened
  UnderWay,     ///< another thread is running the graph; nothing has happened (run_entry waits and tries again)
};

struct Attempt {
  Outcome outcome = Outcome::Missed;
  Way way = Way::Whole;          ///< Due: by which it would have been served
  PyObject* result = nullptr;    ///< Done: new reference; of a cut entry: null with an exception, or not set
  std::vector<PyObject*> slots;  ///< Done, of a cut entry: new references for Cut::places; empty after an exception
  int missed_at = -1;            ///< Missed: offset in the entry program
  std::string internal_error;    ///< Failed: what of ours broke; nothing was published
  bool late = false;             ///< Failed: missed_at is an offset in the late program
  int branch = -1;               ///< Failed: which of the entry's branches went another way, if that is why
};

/// Whether the entry program comes to its end for these arguments. What it draws is put back.
bool guards_hold(Entry& entry, PyObject* const* arguments, PyFunctionObject* function);
/// After a miss: relaxes every number and every size whose guard fails for these arguments (not only the first one), up
/// to the first guard that fails for another reason. True if any was a fact until now.
bool relax_facts(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, Speculation& speculation);

/// The inputs of the entry's graph, out of the registers. False: an int doesn't fit.
bool read_inputs(const Entry& entry, const Run& run, graph::PathInputs& inputs);
/// Before the commit: whether numbers that the graph read from tensors let the run count.
bool decide(Entry& entry, Run& run, const std::vector<graph::RunOutput>& outputs, Attempt& attempt);
/// After the commit: what the graph made, into the registers, and the rest of the host arithmetic.
void take_outputs(Entry& entry, Run& run, std::vector<graph::RunOutput>& outputs);
/// Then the effects and what leaves the frame: the attempt is Done.
void publish(Entry& entry, Run& run, Attempt& attempt);

/// Seconds that the graph of an entry takes for these arguments, run from here `runs` times with nothing around it:
/// what a call of the function costs more is the price of the call. Negative when its guards don't hold. Throws Error.
double graph_seconds(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, int runs);

Attempt run_entry(Entry& entry, PyObject* const* arguments, PyFunctionObject* function);
/// The same, Missed where the short way through the guards (guard_memo.h) doesn't lead to the end.
void run_entry_shortly(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, Attempt& attempt);
/// Why the entry program fails for these arguments, in words with values; to be called after it did.
std::string describe_miss(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, int missed_at);
/// The same on copies: Done means that the verification knows what would have happened. There is no result.
Attempt verify_entry(Verification& verification, PyObject* const* arguments, PyFunctionObject* function);
Attempt verify_entry_shortly(Verification& verification, PyObject* const* arguments, PyFunctionObject* function);

}  // namespace terra::capture
