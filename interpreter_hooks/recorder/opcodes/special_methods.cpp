// What C code looks up on classes by itself: operators, protocols, conversions. Whatever came of it, that these methods
// are what they are, and that there are no others, is a fact.
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <opcode.h>

namespace terra::capture {

namespace {

/// How many operands the C code of an opcode asks for methods that lie on the stack below those that it takes.
struct Asking {
  bool operands;  ///< those that it takes
  int below;
};

/// An opcode that isn't listed asks all of its operands.
Asking asking(int opcode) {
  switch (opcode) {
    case NOP:
    case RESUME:
    case CACHE:
    case POP_TOP:
    case PUSH_NULL:
    case COPY:
    case SWAP:
    case LOAD_CONST:
    case LOAD_FAST:
    case STORE_FAST:
    case DELETE_FAST:
    case LOAD_CLOSURE:
    case LOAD_DEREF:
    case STORE_DEREF:
    case DELETE_DEREF:
    case LOAD_GLOBAL:
    case STORE_GLOBAL:
    case DELETE_GLOBAL:
    case LOAD_ASSERTION_ERROR:
    case LOAD_ATTR:  // reads and stores of attributes have facts of their own (attributes.cpp, stores.cpp)
    case LOAD_METHOD:
    case STORE_ATTR:
    case DELETE_ATTR:
    case IS_OP:
    case BUILD_TUPLE:
    case BUILD_LIST:
    case BUILD_STRING:
    case LIST_TO_TUPLE:
    case LIST_APPEND:
    case JUMP_FORWARD:
    case JUMP_BACKWARD:
    case JUMP_BACKWARD_NO_INTERRUPT:
    case POP_JUMP_FORWARD_IF_NONE:
    case POP_JUMP_FORWARD_IF_NOT_NONE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE:
    case KW_NAMES:
    case PRECALL:
    case CALL:  // asks what is called (call_sites.cpp)
    case MAKE_FUNCTION:
    case RETURN_VALUE:
    case YIELD_VALUE:
    case PUSH_EXC_INFO:
    case POP_EXCEPT:
    case RERAISE:
    case IMPORT_NAME:
    case IMPORT_FROM: return {false, 0};
    case GET_LEN:
    case MATCH_MAPPING:
    case MATCH_SEQUENCE: return {false, 1};
    case MATCH_KEYS: return {false, 2};
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
  const Asking asked = asking(f.pending.opcode);
  if (asked.operands) {
    for (Value& operand : f.pending.in) asked_by_c(operand);
  }
  for (int i = 1; i <= asked.below && i <= static_cast<int>(f.stack.size()); i++) asked_by_c(f.top(i));
}

}  // namespace terra::capture
