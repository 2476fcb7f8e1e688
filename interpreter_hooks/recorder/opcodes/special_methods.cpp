// What C code looks up on classes by itself: operators, protocols, conversions. Whatever came of it, that these methods
// are what they are, and that there are no others, is a fact.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/trace/builder.h"

namespace terra::capture {

namespace {

/// How many operands the C code of an instruction asks for methods that lie on the stack below those that it takes.
struct Asking {
  bool operands;  ///< those that it takes
  int below;
};

/// A kind that isn't listed asks all of its operands.
Asking asking(int kind) {
  switch (kind) {
    case TERRA_NOP:
    case TERRA_RESUME:
    case TERRA_POP_TOP:
    case TERRA_PUSH_NULL:
    case TERRA_COPY:
    case TERRA_SWAP:
    case TERRA_LOAD_CONST:
    case TERRA_LOAD_FAST:
    case TERRA_LOAD_FAST_AND_CLEAR:
    case TERRA_STORE_FAST:
    case TERRA_DELETE_FAST:
    case TERRA_LOAD_CLOSURE:
    case TERRA_LOAD_DEREF:
    case TERRA_STORE_DEREF:
    case TERRA_DELETE_DEREF:
    case TERRA_LOAD_GLOBAL:
    case TERRA_STORE_GLOBAL:
    case TERRA_DELETE_GLOBAL:
    case TERRA_LOAD_ASSERTION_ERROR:
    case TERRA_LOAD_ATTR:  // reads and stores of attributes have facts of their own (attributes.cpp, stores.cpp)
    case TERRA_LOAD_METHOD:
    case TERRA_LOAD_SUPER_ATTR:
    case TERRA_STORE_ATTR:
    case TERRA_DELETE_ATTR:
    case TERRA_IS_OP:
    case TERRA_BUILD_TUPLE:
    case TERRA_BUILD_LIST:
    case TERRA_BUILD_STRING:
    case TERRA_LIST_TO_TUPLE:
    case TERRA_LIST_APPEND:
    case TERRA_JUMP:
    case TERRA_JUMP_NO_INTERRUPT:
    case TERRA_POP_JUMP_IF_NONE:
    case TERRA_POP_JUMP_IF_NOT_NONE:
    case TERRA_KW_NAMES:
    case TERRA_PRECALL:
    case TERRA_CALL:  // asks what is called (call_sites.cpp)
    case TERRA_MAKE_FUNCTION:
    case TERRA_RETURN_VALUE:
    case TERRA_RETURN_CONST:
    case TERRA_YIELD_VALUE:
    case TERRA_END_FOR:
    case TERRA_END_SEND:
    case TERRA_STOP_ITERATION_ERROR:
    case TERRA_PUSH_EXC_INFO:
    case TERRA_POP_EXCEPT:
    case TERRA_RERAISE:
    case TERRA_IMPORT_NAME:
    case TERRA_IMPORT_FROM: return {false, 0};
    case TERRA_GET_LEN:
    case TERRA_MATCH_MAPPING:
    case TERRA_MATCH_SEQUENCE: return {false, 1};
    case TERRA_MATCH_KEYS: return {false, 2};
    default: return {true, 0};
  }
}

/// Tensors: the guard on the engine's mode knows their class.
bool is_counted(PyObject* object) { return is_plain_tensor(object) && !is_parameter(object); }

}  // namespace

void Recording::special_methods(PyTypeObject* type) {
  if (is_changeable(type)) class_facts(type).note_special_methods(file());
}

void Recording::asked_by_c(Value& value, int levels) {
  if (!alive_ || !value.known()) return;
  PyObject* object = value.object;
  if (is_counted(object)) {
    trace_->guard_mode();
  } else if (is_changeable(Py_TYPE(object))) {
    shadow(value);
    guard_type(object);
    special_methods(Py_TYPE(object));
  }
  if (PyType_Check(object)) special_methods(reinterpret_cast<PyTypeObject*>(object));
  const Shadow* known = levels > 0 ? peek(object) : nullptr;
  if (!known) return;
  std::vector<Value> held = known->items;
  for (const Shadow::Entry& entry : known->entries) held.push_back(entry.value);
  for (Value& item : held) asked_by_c(item, levels - 1);
}

void Recording::class_reads(PyObject* object) {
  if (is_changeable(Py_TYPE(object)) && !is_counted(object)) class_facts(Py_TYPE(object));
}

void Recording::call_asked(ShadowFrame& f) {
  CallSite& site = f.pending.call;
  if (site.callee && PyType_Check(site.callee)) asked_by_c(site.callee_value);  // its metaclass
  switch (site.kind) {
    case CallSite::Model:
    case CallSite::Engine:
    case CallSite::Referent: break;
    default: return;
  }
  for (Value& value : site.positional) asked_by_c(value, 2);
  for (Value& value : site.keyword_values) asked_by_c(value, 2);
}

void Recording::classes_asked(ShadowFrame& f) {
  const Asking asked = asking(f.pending.kind);
  if (asked.operands) {
    for (Value& operand : f.pending.in) asked_by_c(operand);
  }
  for (int i = 1; i <= asked.below && i <= static_cast<int>(f.stack.size()); i++) asked_by_c(f.top(i));
}

}  // namespace terra::capture
