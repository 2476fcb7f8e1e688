// One run of a captured entry: guards, graph, commit, effects.
#pragma once
#include <string>

#include "interpreter_hooks/recorder/entry.h"
#include "interpreter_hooks/recorder/relaxation.h"

namespace terra::capture {

enum class Outcome : unsigned char {
  Done,     ///< everything is published; the result is what the frame returns (or null with an exception)
  Missed,   ///< a guard did not hold; nothing has happened
  Failed,   ///< an assert in the graph, an error of an op, a refusal; nothing has happened
  Injected, ///< the same by fault injection
};

struct Attempt {
  Outcome outcome = Outcome::Missed;
  PyObject* result = nullptr;  ///< Done: new reference
  int missed_at = -1;          ///< Missed: offset in the entry program
  std::string internal_error;  ///< Failed: what of ours broke; nothing was published
  bool late = false;           ///< Failed: missed_at is an offset in the late program
  int branch = -1;             ///< Failed: which of the entry's branches went another way, if that is why
};

/// After a miss: relaxes every number whose guard fails for these arguments (not only the first one), up to the first
/// guard that fails for another reason. True if any was a fact until now.
bool relax_numbers(Entry& entry, PyObject* const* arguments, PyFunctionObject* function, Relaxation& relaxation);

Attempt run_entry(Entry& entry, PyObject* const* arguments, PyFunctionObject* function);

}  // namespace terra::capture
