#include "interpreter_hooks/recorder/calls/recursion.h"

#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/module_parts.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// Where code objects are marked; they carry nothing but the mark.
Py_ssize_t mark_index() {
  static const Py_ssize_t index = terra_code_extra_index(nullptr);
  return index;
}

/// The module that the method runs on, or null. A running frame whose comprehensions use `self` has it in a cell:
/// [self.encode(child) for child in node.children].
PyObject* receiver(const TerraFrame* frame) {
  if (terra_code_argument_slots(terra_frame_code(frame)) == 0) return nullptr;
  PyObject* first = terra_frame_localsplus(const_cast<TerraFrame*>(frame))[0];
  if (first && PyCell_Check(first)) first = PyCell_GET(first);
  return first && is_module(first) ? first : nullptr;
}

}  // namespace

bool is_recursive(const PyCodeObject* code) { return mark_index() >= 0 && terra_code_extra(code, mark_index()); }

/// Functions of Terra's own package call themselves on arguments of their callers, whose structure is the program's
/// code.
bool is_recursive_call(std::span<ShadowFrame* const> callers, const TerraFrame* callee) {
  PyCodeObject* const code = terra_frame_code(callee);
  if (is_recursive(code)) return true;
  PyObject* const module = receiver(callee);
  const PyFunctionObject* const function = terra_frame_function(callee);
  const bool found =
      !terra_code_is_of_package(code) && std::any_of(callers.begin(), callers.end(), [&](const ShadowFrame* caller) {
        return caller->callee() == function && !caller->generator && (!module || receiver(caller->frame) == module);
      });
  if (!found || mark_index() < 0) return false;
  static char mark;
  if (!terra_code_set_extra(code, mark_index(), &mark)) return false;
  if (on_recursive) on_recursive(code);
  return true;
}

}  // namespace terra::capture
