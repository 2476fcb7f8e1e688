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

/// Throws unless `object` (a device, a string, None) means the CPU, which is where tensors are.
void check_device(Borrowed object);
bool is_device(Borrowed object);
/// The type of devices itself; equal devices are one object.
bool is_device_type(Borrowed object);
/// device(type='cpu'). Borrowed.
Borrowed cpu_device();
Object device_object(Device device);
/// torch.strided. Borrowed.
Borrowed strided_layout();
bool is_layout(Borrowed object);
bool is_memory_format(Borrowed object);

void create_dtype_types(PyObject* module);

}  // namespace terra::hooks
