// no_grad, enable_grad, inference_mode, set_grad_enabled: context managers and decorators.
#pragma once
#include "engine/ops/call.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// Switches the modes of this thread and tells the observer.
void change_gradient_modes(GradientModes modes);
/// How often a context manager of these types has been entered and not left.
size_t times_entered(PyObject* self);

void create_grad_mode_types(PyObject* module);

}  // namespace terra::hooks
