// The table of C callables that a recording understands. Everything else ends it.
#pragma once
#include "interpreter_hooks/recorder/recording.h"

namespace terra::capture {

/// How a C callable is followed. Arguments are in frame.pending.call. `before` runs while the world is as the callable
/// will find it (reads of what it is going to change); `after` gives the shadow of `result`.
struct CallModel {
  const char* where;  ///< module or type that holds it: "builtins", "list", "math"
  const char* name;   ///< null: every callable of that module or type
  void (*before)(Recording& r, ShadowFrame& f);
  Value (*after)(Recording& r, ShadowFrame& f, PyObject* result);
  /// Where it may raise inside a recording: makes facts of what made it raise; false if that can't be.
  bool (*raised)(Recording& r, ShadowFrame& f) = nullptr;
};

struct ModelList {
  const CallModel* models;
  size_t count;
};
ModelList object_models();     // calls_objects.cpp: attributes, types, super
ModelList container_models();  // calls_containers.cpp: list, dict, tuple
ModelList pure_models();       // calls_pure.cpp: numbers and strings, sum, sorted, iterators
ModelList control_models();    // calls_control.cpp: generators, exceptions

/// The model of a builtin function, method descriptor, slot wrapper or builtin type, or null.
const CallModel* model_of(PyObject* callee);
/// "list.append", "time.time": for the reasons.
std::string callable_name(PyObject* callee);

inline std::vector<Value>& arguments(ShadowFrame& f) { return f.pending.call.positional; }

}  // namespace terra::capture
