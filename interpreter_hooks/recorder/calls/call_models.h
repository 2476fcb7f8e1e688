// The table of C callables that a recording understands. Everything else ends it. What a callable does stands in its
// row and nowhere else: nobody asks for its name.
#pragma once
#include "graph/trace/trace.h"
#include "interpreter_hooks/recorder/core/recording.h"

#include <optional>

namespace terra::capture {

/// What a C callable does beside making its result.
enum Trait : uint32_t {
  kNothing = 0,
  kChanges = 1 << 0,       ///< its first argument: s.add(x)
  kKeeps = 1 << 1,         ///< all items that are there stay there: s.add(x), and not s.clear()
  kAtBack = 1 << 2,        ///< one item comes there, or goes unless it keeps all: l.append(x), l.pop()
  kAtFront = 1 << 3,       ///< d.appendleft(x), d.popleft()
  kPure = 1 << 4,          ///< it has no effects, and numbers and strings are all that it can fail by: abs(x)
  kLooksIn = 1 << 5,       ///< it compares items, adds them up, unpacks them: sorted(l)
  kFoldsNumbers = 1 << 6,  ///< it looks in; numbers that a generator gives it are operands by themselves: sum(g)
  kHandsOn = 1 << 7,       ///< it takes items and hands them on as they are: map(f, l)
  kAsksTruth = 1 << 8,     ///< any(l)
  kByFunction = 1 << 9,    ///< a function, its first argument, is all that looks at the items: reduce(f, l)
  kResumes = 1 << 10,      ///< a generator, and gives what that yields: next(g)
  kReads = 1 << 11,        ///< one item of its first argument, found by the second: d.get(k)
  kUnseen = 1 << 12,       ///< Python code runs below it that concerns nobody
};

/// What stays the same however a C callable was reached: its method definition, its slot wrapper or the type itself.
const void* key_of(PyObject* callee);

/// How a C callable is followed. Arguments are in frame.pending.call. `before` runs while the world is as the callable
/// will find it (reads of what it is going to change); `after` gives the shadow of `result`.
struct CallModel {
  const char* where;  ///< module, type or object that holds it: "builtins", "list", "math"
  const char* name;   ///< null: every callable of that module or type
  void (*before)(Recording& r, ShadowFrame& f);
  Value (*after)(Recording& r, ShadowFrame& f, PyObject* result);
  uint32_t traits = kNothing;
  /// Where it may raise inside a recording: makes facts of what made it raise; false if that can't be. Pure callables
  /// need none.
  bool (*raised)(Recording& r, ShadowFrame& f) = nullptr;
  /// What it computes of numbers, that a graph can compute as well.
  std::optional<graph::NumberRecord::Op> operation = {};
};

struct ModelList {
  const CallModel* models;
  size_t count;
};
ModelList object_models();    // models/objects.cpp: attributes, types, super
ModelList sequence_models();  // models/sequences.cpp: list, tuple, deque
ModelList dict_models();      // models/dicts.cpp: dict and its subclasses
ModelList set_models();       // models/sets.cpp
ModelList iterator_models();  // models/iterators.cpp: enumerate, zip, map, itertools
ModelList pure_models();      // models/pure.cpp: numbers and strings, sum, sorted
ModelList output_models();    // models/output.cpp: print, random numbers
ModelList control_models();   // models/control.cpp: generators, exceptions
ModelList clock_models();     // clocks.cpp

/// Calls visit(row) for each row of the table.
template <class F>
void each_model(F visit) {
  for (ModelList list : {object_models(), sequence_models(), dict_models(), set_models(), iterator_models(),
                         pure_models(), output_models(), control_models(), clock_models()}) {
    for (size_t i = 0; i < list.count; i++) visit(list.models[i]);
  }
}

/// The model of a builtin function, method descriptor, slot wrapper or builtin type, or null.
const CallModel* model_of(PyObject* callee);
/// CallModel::traits of a callable; none without a model.
uint32_t traits_of(PyObject* callee);
/// The same of the callable of a call.
inline uint32_t traits_of(const CallSite& call) {
  return call.kind == CallSite::Model && call.model ? call.model->traits : uint32_t{kNothing};
}
/// Why a callable without a model ends a recording.
Reason refusal_of(PyObject* callee);
/// Opens the call of a functools.lru_cache that has the result (models/cached.cpp); false: it is none.
bool open_cached(Recording& r, ShadowFrame& f);
/// Opens the call of an itemgetter, attrgetter or methodcaller (models/getters.cpp); false: it is none.
bool open_getter(Recording& r, ShadowFrame& f);
/// An operator.itemgetter: it never changes.
bool is_item_getter(PyObject* object);
/// Opens the draw of a number from a generator of numpy (models/numpy.cpp); false: it is none.
bool open_numpy_draw(Recording& r, ShadowFrame& f);
/// Opens the call of Logger._log (models/logging.cpp); false: it is none, or writes to more than a plain stream.
bool open_logging(Recording& r, ShadowFrame& f);
/// Writing to it runs no Python code.
bool is_plain_stream(PyObject* stream);
/// A C callable of our own that entry and effect programs call; it is never freed.
template <PyObject* (*function)(PyObject* self, PyObject* const* given, Py_ssize_t count)>
PyObject* c_function(const char* name) {
  static PyMethodDef definition = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function)),
                                   METH_FASTCALL, nullptr};
  static PyObject* const made = PyCFunction_New(&definition, nullptr);
  return made;
}
/// Arguments by position, then those that have names.
std::vector<Value> everything(ShadowFrame& f);
/// Calls its first argument with the others, the last of which have the names in the tuple that is the second.
PyObject* caller_with_names();
/// The names of the arguments of a call that have one, as a tuple.
PyObject* names_of(Recording& r, const CallSite& site);
/// Elements of a set, keys of a dict, what a sequence holds or the letters of a string, as keys; stops where they can't
/// be compared without Python code.
std::vector<Value> keys_of(Recording& r, Value& source);
/// "list.append", "time.time": for people.
std::string callable_name(PyObject* callee);

/// CallModel::after where what it makes is a fact.
Value end_fact(Recording& r, ShadowFrame& f, PyObject* result);
/// Says so and stops when a call has other arguments than these many positional ones.
bool plain_arguments(Recording& r, ShadowFrame& f, size_t least, size_t most);
/// The same of a method of a container, which has to be one `of_kind`.
bool container_arguments(Recording& r, ShadowFrame& f, bool (*of_kind)(PyObject*), size_t least, size_t most);
/// Repeats the very method call on an outside container: for changes that need no more than the same arguments.
void repeat_call(Recording& r, ShadowFrame& f);
/// Says that an exception of a function of numbers and strings follows from them: they become facts.
bool raised_by_numbers(Recording& r, ShadowFrame& f);
/// The tuple `real` of the items, as each run has them.
Value made_in_each_run(Recording& r, const std::vector<Value>& items, PyObject* real);
/// A C callable that other C code may call without being seen: one without effects, or one that reports itself.
bool is_harmless(PyObject* callee);
/// An instance of classes written in Python all the way up to object: C code finds nothing in it but methods, and all
/// that a recording knows of it are attributes.
bool is_plain_object(PyObject* object);
/// str(x), repr(x).
bool makes_text(const CallSite& site);
/// A function or a method in Python, or what stands for a function that may be taken over.
bool is_program_function(PyObject* object);
/// int | str
bool is_union(PyObject* object);
/// How far C code looks into what it is given.
enum class Exposure : uint8_t {
  Items,  ///< it takes the items, and hands them on
  All     ///< it compares them, adds them up, prints them
};
/// Whether C code can have seen nothing but facts and tensors in a value that was exposed to it.
bool transparent(Recording& r, const Value& value, Exposure exposure = Exposure::All, int depth = 0);
/// Whether its text says where something lies, or what something is called that can get another name: functions,
/// classes of the program, keys that are compared by identity.
bool has_text_of_its_own(PyObject* object, int depth = 0);
/// Whether C code knows all operands of the open call from facts and tensors alone.
bool knows_operands(Recording& r, ShadowFrame& f);
/// Stops where that isn't so.
void check_operands(Recording& r, ShadowFrame& f);
/// What the frame returns or yields goes to the open instruction of its caller: becomes facts as far as C code is about
/// to look at it.
void expose_returned(Recording& r, const ShadowFrame& frame, const Pending& pending, Value& value);
/// A search in a sequence ends at this item: it is the key, or equal to it as numbers and strings are.
bool is_found(PyObject* item, PyObject* key);
/// What C code handed over, all of whose numbers are facts: numbers, objects met before, tuples of such.
Value value_of_real(Recording& r, PyObject* object);
/// Lets C code look at a value as it is now: numbers in it become facts, objects in it become known by identity.
void expose(Recording& r, Value& value, int depth = 0);
void expose_all(Recording& r, ShadowFrame& f);

// Contents of one container into another (models/dicts.cpp, models/sets.cpp).
void copy_entries(Recording& r, Value& source, Value& target);
void append_item(Recording& r, Value& list, const Value& value);
Value set_operation(Recording& r, Value& a, Value& b, Word code, PyObject* result);

inline std::vector<Value>& arguments(ShadowFrame& f) { return f.pending.call.positional; }

}  // namespace terra::capture
