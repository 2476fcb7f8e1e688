// dtype, device, layout and memory_format objects.
#pragma once
#include <optional>

#include "engine/device/device.h"
#include "interpreter_hooks/bindings/entry.h"
#include "kernels/abi/dtype.h"

namespace terra::hooks {

/// The one object of a dtype. Borrowed.
Borrowed dtype_object(DType dtype);
/// The dtype that an object stands for: a dtype object, or Python's float, int and bool themselves.
std::optional<DType> dtype_from(Borrowed object);
/// A dtype object proper.
bool is_dtype(Borrowed object);

/// The device that `object` (a device, a string, an index, None: the default device) means. Throws unless that is the
/// CPU or the meta device, which are where tensors are.
Device device_from(Borrowed object);
bool is_device(Borrowed object);
/// The type of devices itself; equal devices are one object.
bool is_device_type(Borrowed object);
Object device_object(Device device);
/// torch.strided. Borrowed.
Borrowed strided_layout();
bool is_layout(Borrowed object);
bool is_memory_format(Borrowed object);

void create_dtype_types(PyObject* module);

}  // namespace terra::hooks
