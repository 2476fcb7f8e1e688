#include "interpreter_hooks/bindings/calls/function_modes.h"

#include <vector>

#include "engine/errors/errors.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {
namespace {

/// Of one thread, each with a reference. A thread that ends inside of a mode leaves it there.
thread_local std::vector<PyObject*> stack;
thread_local bool enabled = true;
thread_local bool dispatch_modes_see = false;

void changed() { modes_see_calls = function_modes_see_calls() || dispatch_modes_see; }

Object pop() {
  if (stack.empty()) raise(PyExc_IndexError, "no mode of __torch_function__ is on the stack");
  Object mode = Object::steal(stack.back());
  stack.pop_back();
  changed();
  return mode;
}

void push(Object mode) {
  stack.push_back(mode.release());
  changed();
}

void tell(PyObject* mode) { report_opaque("a mode of __torch_function__", mode); }

Object push_mode(PyObject*, PyObject* mode) {
  tell(mode);
  push(Object::share(mode));
  return Object::share(Py_None);
}
Object pop_mode(PyObject*, PyObject*) {
  tell(Py_None);
  return pop();
}
Object mode_count(PyObject*, PyObject*) {
  tell(Py_None);
  return owned(PyLong_FromSize_t(stack.size()));
}
Object mode_at(PyObject*, PyObject* place) {
  tell(Py_None);
  const Py_ssize_t at = PyLong_AsSsize_t(place);
  if (at == -1 && PyErr_Occurred()) throw PythonError{};
  if (at < 0 || at >= static_cast<Py_ssize_t>(stack.size()))
    raise(PyExc_IndexError, "no mode of __torch_function__ is at place %zd of the stack", at);
  return Object::share(stack[static_cast<size_t>(at)]);
}
Object modes_seen(PyObject*, PyObject*) {
  tell(Py_None);
  return owned(PyBool_FromLong(function_modes_see_calls()));
}

Object modes_enabled(PyObject*, PyObject*) {
  tell(Py_None);
  return owned(PyBool_FromLong(enabled));
}

}  // namespace

ModeAside::ModeAside() : mode_(pop()) {}
ModeAside::~ModeAside() { push(std::move(mode_)); }

bool function_modes_see_calls() { return enabled && !stack.empty(); }
void let_dispatch_modes_see_calls(bool yes) {
  dispatch_modes_see = yes;
  changed();
}

Borrowed innermost_mode() { return stack.empty() ? nullptr : stack.back(); }
bool modes_are_enabled() { return enabled; }
void enable_modes(bool yes) {
  enabled = yes;
  changed();
}

PyMethodDef mode_functions[] = {
    {"_push_on_torch_function_stack", method<push_mode>(), METH_O, "Enters a mode of __torch_function__."},
    {"_pop_torch_function_stack", method<pop_mode>(), METH_NOARGS, "Leaves the innermost mode and returns it."},
    {"_len_torch_function_stack", method<mode_count>(), METH_NOARGS, "How many modes this thread is in."},
    {"_get_function_stack_at", method<mode_at>(), METH_O, "A mode of this thread; the outermost is at 0."},
    {"_is_torch_function_mode_enabled", method<modes_seen>(), METH_NOARGS, "Whether a mode sees the calls that run."},
    {"_modes_are_enabled", method<modes_enabled>(), METH_NOARGS,
     "Whether modes see calls where this thread is in any."},
    {}};

}  // namespace terra::hooks
