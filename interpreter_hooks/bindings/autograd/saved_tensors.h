// Hooks of saved tensors: Python functions that pack what is kept for backward, and unpack it again.
#pragma once
#include <Python.h>

namespace terra::hooks {

/// Whether such functions are in force on this thread. Graphs keep tensors as they are: they are neither recorded nor
/// run then.
bool saved_tensors_are_packed();

extern PyMethodDef saved_tensor_functions[];

}  // namespace terra::hooks
