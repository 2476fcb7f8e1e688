// Shadow frames: the recorded frame and the Python frames below it.
#pragma once
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/recorder/core/value.h"

#include <vector>

namespace terra::capture {

struct CallModel;

/// A call as the callee will see it: bound methods unpacked, * and ** expanded.
struct CallSite {
  enum Kind : uint8_t {
    Unknown,
    Function,     ///< a Python function: its frame comes, its return value is the result
    Instance,     ///< an object whose class has __call__, or a terra.nn.Module: the same
    NewInstance,  ///< a Python class: a fresh object, perhaps through a frame of __init__
    Model,        ///< a C callable of the table
    Engine,       ///< a C callable of the engine: it reports itself
    Referent,     ///< a weak reference
  };
  Kind kind = Unknown;
  PyObject* callee = nullptr;  // borrowed
  Value callee_value;
  std::vector<Value> positional;
  std::vector<PyObject*> keywords;  // names, borrowed
  std::vector<Value> keyword_values;
  const CallModel* model = nullptr;  ///< of a C callable
  bool packed = false;               ///< Instance: the callee gets itself, a tuple and a dict of the other arguments
};

/// How an attribute access is carried out (attributes.cpp).
enum class Access : uint8_t {
  None,          ///< there is no such attribute
  Opaque,        ///< C code decides
  Instance,      ///< the instance's own dict or inline values
  Slot,          ///< member descriptor
  TupleField,    ///< a named item of a tuple
  Class,         ///< found by the class look-up; nothing in the instance
  ClassMethod,   ///< the same, bound to the instance or class by the descriptor protocol
  Property,      ///< a Python getter or setter runs
  GetAttr,       ///< __getattr__ runs
  GetAttribute,  ///< __getattribute__ of the program runs
  Type,          ///< attribute of a class object
  Module,        ///< attribute of a Python module
  Parameter,     ///< in one of the four dicts of a terra.nn.Module
  Tensor,        ///< the binding layer reports it
  Super,         ///< through super()
  Exception,     ///< a C field of an exception made inside
  InstanceDict,  ///< __dict__
  Getter,        ///< a C getter that each run asks again (the shape of an array of numpy)
  Fixed,         ///< a C getter whose result is a function of facts (__class__, __name__)
};

/// A getter, __getattr__ or __getattribute__ of the program.
inline bool runs_python(Access access) {
  return access == Access::Property || access == Access::GetAttr || access == Access::GetAttribute;
}

/// The instruction that is being executed: begun at its event, finished at the frame's next event.
struct Pending : TerraInstruction {
  int offset = 0;              ///< of the instruction, code units
  std::vector<Value> in;       ///< the operands it took
  std::vector<Value> returns;  ///< what Python frames below it returned
  bool used_returns = false;
  size_t taken = 0;  ///< how many of them generators have delivered to the items made so far
  CallSite call;
  Access access = Access::None;
  PyObject* found = nullptr;  ///< what the class look-up of an attribute found (borrowed)
  Value extra;                ///< a value that rules or reports of the engine keep for end
  bool reported = false;      ///< the engine reported something during the instruction
  bool called_by_c = false;   ///< a Python frame below it is no method of its operands: C code called that for an item
  bool child_raised = false;  ///< an exception left a Python frame below it
  Value ended;                ///< what a generator below it returned at its end

  Pending() : TerraInstruction{.target = -1} {}
  Pending(const TerraInstruction& instruction, int offset) : TerraInstruction(instruction), offset(offset) {}
  bool is_open() const { return kind != TERRA_NOTHING; }
};

struct ShadowFrame {
  TerraFrame* frame = nullptr;
  PyCodeObject* code = nullptr;                    // held by the recording
  const TerraInstruction* instructions = nullptr;  ///< by offset
  Value function;
  std::vector<Value> locals;
  std::vector<Value> stack;
  Pending pending;
  PyObject* keyword_names = nullptr;  ///< of the KW_NAMES before a CALL (borrowed from the code)
  bool started = false;
  bool generator = false;
  bool creates = false;  ///< of a generator: the call that returns it
  PyObject* generator_object = nullptr;  ///< borrowed while it is suspended, held by the recording once it has ended
  bool resumed = false;
  bool ended = false;  ///< a generator that has returned or raised

  PyObject** real_stack() const { return terra_frame_localsplus(frame) + code->co_nlocalsplus; }
  int real_depth() const { return terra_frame_stack_depth(frame); }
  /// The real item `from_top` places from the top (1 is the top).
  PyObject* real(int from_top) const { return real_stack()[real_depth() - from_top]; }
  Value& top(int from_top = 1) { return stack[stack.size() - from_top]; }
  Value pop() {
    Value value = stack.back();
    stack.pop_back();
    return value;
  }
  void push(Value value) { stack.push_back(value); }
  PyObject* name(int index) const { return PyTuple_GET_ITEM(code->co_names, index); }
  PyFunctionObject* callee() const { return terra_frame_function(frame); }
};

}  // namespace terra::capture
