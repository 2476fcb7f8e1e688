// ModuleBase: the C base of terra.nn.Module. It keeps the attributes and calls forward; everything else is Python.
//
// A module's state is its __dict__, in which "_parameters", "_buffers" and "_modules" are plain dicts (once __init__
// has run) that anybody may read and change.
#pragma once
#include <cstdint>
#include <vector>

#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// Where an attribute of a module is kept, in the order of look-up. (What the class has comes before all for data
/// descriptors, and behind Own for everything else.)
enum class ModulePlace : uint8_t { Own, Parameters, Buffers, Modules, None };

extern PyTypeObject* module_base_type;

bool is_module(Borrowed object);
bool is_module_type(PyTypeObject* type);
/// One of the four dicts, borrowed; null where the module has none (yet).
PyObject* module_dict(Borrowed module, ModulePlace place);
/// The attribute called `name` (an interned str) among the instance's own: borrowed, null if there is none. Runs no
/// Python code. `place` may be null.
PyObject* module_find(Borrowed module, Borrowed name, ModulePlace* place);
/// True when calling the module does more than forward(): hooks are registered on it or on all modules.
bool module_has_hooks(Borrowed module);
/// The words of memory that decide module_has_hooks while the module's dict is the same, in an order in which they can
/// be read.
void module_hook_words(Borrowed module, std::vector<const uint64_t*>& words);
/// Where the module's own dict is kept; null before the first attribute.
PyObject* const* module_dict_place(Borrowed module);
/// Changes when a module that has a dict gets another one.
const uint64_t& module_dict_epoch();
/// True when reading (setting) an attribute of such a module runs no Python code but what a property does: the class
/// overrides neither __getattribute__ nor __getattr__ (neither __setattr__ nor __delattr__).
bool module_reads_plainly(PyTypeObject* type);
bool module_writes_plainly(PyTypeObject* type);
/// True when calling an instance of the type is ModuleBase's __call__.
bool module_calls_plainly(PyTypeObject* type);

/// Changes whenever an attribute of any module is set or deleted through the module. (Whoever changes one of the dicts
/// directly changes that dict's version.)
uint64_t& module_epoch();

/// The dict of hooks that run for every module, by kind: "forward_pre", "forward", ... Borrowed.
PyObject* global_module_hooks();
/// The dict of hooks on what any module gets as a member, by kind: "parameter", "buffer", "module". Borrowed. While it
/// is not empty, module_writes_plainly() is true of no class.
PyObject* registration_hooks();

void create_module_type(PyObject* module);

}  // namespace terra::hooks
