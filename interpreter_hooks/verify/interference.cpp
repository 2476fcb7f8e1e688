#include "interpreter_hooks/verify/interference.h"

namespace terra::capture {

namespace {

long noted = 0;

/// Handlers get the number of the signal and the frame that was running: hardly anything else is called like that.
bool has_number_and_frame(PyObject* const* items, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i + 1 < count; i++) {
    if (items[i] && items[i + 1] && PyLong_Check(items[i]) && PyFrame_Check(items[i + 1])) return true;
  }
  return false;
}

}  // namespace

void note_handler(TerraFrame* frame) {
  if (terra_frame_is_borrowed(frame)) return;  // its slots may hold anything by now
  const PyCodeObject* code = terra_frame_code(frame);
  PyObject* const* slots = terra_frame_localsplus(frame);
  bool found = has_number_and_frame(slots, code->co_argcount);
  if (code->co_flags & CO_VARARGS) {
    PyObject* rest = slots[code->co_argcount + code->co_kwonlyargcount];
    found = found || has_number_and_frame(PySequence_Fast_ITEMS(rest), PyTuple_GET_SIZE(rest));
  }
  if (found) noted++;
}

long handlers_noted() { return noted; }

}  // namespace terra::capture
