// Objects of C types whose insides Python code reads as if they were attributes.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

#include <cstdint>
#include <vector>

namespace terra::capture {

/// func (0), args (1) or keywords (2) of a functools.partial, borrowed.
PyObject* partial_part(PyObject* partial, uint64_t which);
bool is_partial(PyObject* object);

/// The four dicts in which a terra.nn.Module keeps its attributes, in the order of look-up.
enum ModuleDict : uint64_t { module_own, module_parameters, module_buffers, module_children, module_dict_count };
const char* module_dict_name(uint64_t which);

bool is_module(PyObject* object);
/// The C base of all modules; null as long as the engine's types aren't there.
PyTypeObject* module_base();
/// Calling the class makes a module and calls its __init__: no __new__, __setattr__ or metaclass of the program has a
/// say.
bool makes_plain_modules(PyTypeObject* type);
/// The hooks that run for every module, a dict of dicts by kind, borrowed.
PyObject* hooks_of_all_modules();
/// Its class overrides no attribute access (no __setattr__, no __call__) with Python code.
bool module_reads_plainly(PyObject* module);
bool module_writes_plainly(PyObject* module);
bool module_calls_plainly(PyObject* module);
/// One of the dicts, borrowed; null where the module has none (yet).
PyObject* module_part(PyObject* module, uint64_t which);
/// Where a module keeps its own dict; it points to null before the first attribute.
PyObject* const* module_dict_place(PyObject* module);
/// Changes when a module that has a dict gets another one.
const uint64_t& module_dict_epoch();
/// The words of memory that decide module_has_hooks while the module's dict is the same, in an order in which they can
/// be read.
void module_hook_words(PyObject* module, std::vector<const uint64_t*>& words);
/// True when calling the module does more than forward(): hooks are registered on it or on all modules.
bool module_has_hooks(PyObject* module);

}  // namespace terra::capture
