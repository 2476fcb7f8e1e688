// Where functions of a thread make tensors that are told no device: `with device:`, set_default_device.
#pragma once
#include "engine/device/device.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// Until the matching leave_default_device(). The observer is told.
void enter_default_device(Device device);
void leave_default_device();

void create_default_device_functions(PyObject* module);

}  // namespace terra::hooks
