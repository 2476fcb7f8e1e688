// Tables of module functions, by the file that defines them.
#pragma once
#include <Python.h>

namespace terra::hooks {

extern PyMethodDef printing_functions[];       // printing.cpp
extern PyMethodDef construction_functions[];   // construction.cpp: tensor, as_tensor, ...
extern PyMethodDef numpy_functions[];          // numpy.cpp: from_numpy, frombuffer
extern PyMethodDef copying_functions[];        // copying.cpp: _rebuild_tensor
extern PyMethodDef dlpack_functions[];         // dlpack.cpp: _take_dlpack
extern PyMethodDef autocast_functions[];       // autocast.cpp
extern PyMethodDef setting_functions[];        // settings.cpp: set_default_dtype, manual_seed, ...
extern PyMethodDef autograd_functions[];       // backward.cpp: backward, grad, ...
extern PyMethodDef function_node_functions[];  // function_node.cpp: autograd.Function
extern PyMethodDef sparse_functions[];         // sparse.cpp: _sparse_tensor, _set_sparse_hooks
extern PyMethodDef profile_functions[];        // profile.cpp: _profile_start, ...
extern PyMethodDef record_functions[];         // records.cpp: op_records
extern PyMethodDef module_functions[];         // module_type.cpp

}  // namespace terra::hooks
