// The C half of torch.profiler: scopes of the program's own, and what the engine has seen.
#include <Python.h>
#include <frameobject.h>

#include "engine/profile/scope.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {
namespace {

constexpr size_t kDeepest = 64;  // frames of a stack that is kept

Object text(std::string_view s) {
  return owned(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace"));
}

/// Of the thread that asks, if Python runs in it.
profile::Stack stack_of_python() {
  profile::Stack stack;
  if (!PyGILState_Check()) return stack;
  Object frame = Object::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame && stack.size() < kDeepest) {
    auto* const at = reinterpret_cast<PyFrameObject*>(frame.get());
    const Object code = Object::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(at)));
    const auto& c = *reinterpret_cast<PyCodeObject*>(code.get());
    const Object line = owned(PyUnicode_FromFormat("%U(%d): %U", c.co_filename, PyFrame_GetLineNumber(at), c.co_name));
    Py_ssize_t size = 0;
    const char* const utf8 = PyUnicode_AsUTF8AndSize(line.get(), &size);
    if (!utf8) PyErr_Clear();  // a name that no text can show
    stack.emplace_back(utf8 ? std::string(utf8, static_cast<size_t>(size)) : "?");
    frame = Object::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  return stack;
}

Object start(PyObject*, PyObject* const* args, Py_ssize_t count) {
  report_opaque("begin a profile");
  if (count != 3) raise(PyExc_TypeError, "_profile_start(shapes, memory, stack) takes three flags");
  const auto is_true = [&](int i) { return succeeded(PyObject_IsTrue(args[i])) != 0; };
  return owned(
      PyLong_FromUnsignedLongLong(profile::start({is_true(0), is_true(1), is_true(2) ? stack_of_python : nullptr})));
}

Object list_of(const profile::Stack& stack) {
  Object list = owned(PyList_New(0));
  for (const std::string& line : stack) succeeded(PyList_Append(list.get(), text(line).get()));
  return list;
}

Object list_of(const std::vector<Dims>& shapes) {
  Object list = owned(PyList_New(0));
  for (const Dims& sizes : shapes) {
    const Object shape = owned(PyList_New(0));
    for (const int64_t n : sizes) succeeded(PyList_Append(shape.get(), owned(PyLong_FromLongLong(n)).get()));
    succeeded(PyList_Append(list.get(), shape.get()));
  }
  return list;
}

Object stop(PyObject*, PyObject* number) {
  report_opaque("end a profile");
  const unsigned long long profile = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred()) throw PythonError{};
  Object list = owned(PyList_New(0));
  for (const profile::Event& e : profile::stop(profile)) {
    const Object name = text(e.of.name), shapes = list_of(e.of.shapes), stack = list_of(e.of.stack);
    const Object row =
        owned(Py_BuildValue("OLLLKLOO", name.get(), static_cast<long long>(e.begin), static_cast<long long>(e.end),
                            static_cast<long long>(e.outer), static_cast<unsigned long long>(e.thread),
                            static_cast<long long>(e.bytes), shapes.get(), stack.get()));
    succeeded(PyList_Append(list.get(), row.get()));
  }
  return list;
}

Object open(PyObject*, PyObject* name) {
  report_opaque("mark a part of a profile");
  Py_ssize_t size = 0;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(name, &size);
  if (!utf8) throw PythonError{};
  if (!profile::is_running()) return owned(PyLong_FromUnsignedLongLong(profile::kNone));
  profile::Subject subject{std::string(utf8, static_cast<size_t>(size))};
  if (profile::wants_stacks()) subject.stack = stack_of_python();
  if (!subject.stack.empty()) subject.stack.erase(subject.stack.begin());  // record_function's own
  return owned(PyLong_FromUnsignedLongLong(profile::open(std::move(subject))));
}

Object close(PyObject*, PyObject* scope) {
  report_opaque("mark a part of a profile");
  const unsigned long long number = PyLong_AsUnsignedLongLong(scope);
  if (PyErr_Occurred()) throw PythonError{};
  profile::close(number);
  return Object::share(Py_None);
}

}  // namespace

PyMethodDef profile_functions[] = {
    {"_profile_start", method<start>(), METH_FASTCALL, "From here on scopes are kept; the number of the profile."},
    {"_profile_stop", method<stop>(), METH_O,
     "Ends the profile of that number: (name, begin, end, outer, thread, bytes, shapes, stack) by scope, in "
     "nanoseconds."},
    {"_profile_open", method<open>(), METH_O, "Begins a scope of the program's own: its number, or 0."},
    {"_profile_close", method<close>(), METH_O, "Ends it."},
    {}};

}  // namespace terra::hooks
