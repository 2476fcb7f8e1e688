// The kinds of instructions of entry and late programs. kinds.cpp has the table: a row per kind.
#pragma once
#include "interpreter_hooks/guards/program.h"

#include <string>
#include <vector>

namespace terra::capture {

enum class Op : uint8_t {
  // Reads: dst = something reachable from a (borrowed).
  Argument,        // [index]          slot of the frame: an argument, or what it holds where it goes on in the middle
  Function,        //                  the function that was called
  Closure,         // a [index]        cell of a function's closure
  Cell,            // a                contents of a cell
  Item,            // a [index]        item of a list, tuple or deque
  Key,             // a [key]          value in a dict
  Attribute,       // a [name]         attribute in the instance itself
  Slot,            // a [offset]       __slots__ member
  ClassAttribute,  // [type, name]     found by the class look-up
  InstanceDict,    // a                __dict__ of an instance
  MethodPart,      // a [0 or 1]       __func__ or __self__ of a bound method, or __self__ of one that is in C
  PartialPart,     // a [0, 1 or 2]    func, args, keywords of a functools.partial
  ModulePart,      // a [part]         one of the four dicts of a terra.nn.Module
  CachedResult,    // a [key]          what a functools.lru_cache has kept
  KeyOf,           // a b              value in a dict whose keys are objects
  ItemOf,          // a b              item of a list or tuple at an index that is an int of the run
  KeyAt,           // a [index]        key of a dict, element of a set: by its place in the order of iteration
  GeneratorPart,   // a [slot + 1 or 0] slot of localsplus of a generator that has not started; 0: its function
  IteratorBase,    // a                what an iterator of a list or tuple walks over that has yielded nothing
  Gradient,        // a [0 or 1]       .grad of a tensor (a new reference); 1: which has no hooks
  Version,         // a                of a tensor's memory (a new reference)
  SizeOf,          // a [dimension]    size of a tensor, or all_elements (a new reference)
  // Guards.
  Is,           // a [object]
  Equal,        // a [value]        same type and value
  Pinned,       // a [value]        the same of a number that is an input, where only a constant will do
  Type,         // a [type]
  TypeOf,       // [object, type]   the class of an object that is a fact; it may die (RegisterFile::watch)
  Class,        // [ClassFacts]     what was looked up on a class is still so
  Length,       // a [n]            list, tuple, deque
  MaxLength,    // a [n]            a deque's maxlen, -1 for None
  Keys,         // a [tuple, layout] exactly these keys in this order; of a set also how they lie in its table
  Size,         // a [n]            number of keys of a dict, of elements of a set
  Contains,     // a b [0 or 1]     whether a dict or set has a key that is compared by identity or value
  NoKey,        // a [key]
  NoAttribute,  // a [name]         the instance itself has no such attribute
  NoArgument,   // [index]          the slot of the frame is empty
  Code,         // a [code, globals, defaults, kwdefaults]
  Globals,      // a [dict]         of a function
  Same,         // a b
  Distinct,     // a b
  AllDistinct,  // [registers]      pairwise
  OwnDicts,     // [registers]      none has its attributes (a dict: its keys) in the dict of another
  // No code runs when this is dropped, with all that it alone holds: attribute [name] of a; what a has under key b
  // ([1]:
  // and the key), or at place b (a slice: all items); everything in a; all of these together.
  QuietAttribute,
  QuietItem,
  QuietItems,
  QuietArgument,  // what is in slot [index] of the frame
  QuietTogether,
  Truth,        // a [0 or 1]       of a number made by host arithmetic
  Tensor,       // a [TensorFacts]
  Offset,       // a [n]            where a tensor begins in its storage
  NoGradient,   // a [0 or 1]       .grad is None; 1: and the tensor has no hooks
  SameStorage,  // a b
  Apart,        // [registers]      memory of tensors does not overlap
  OwnHistory,   // a                a tensor that is no view of one that requires grad
  CMethod,      // a [descriptor]   a bound method made from it, as each look-up makes another
  Unstarted,    // a [code]         a generator that has not started
  RangeStart,   // a [start, step, length]  an iterator of a range that has yielded nothing
  NoHooks,      // a                calling the module is calling its forward
  Mode,         // [word]           gradient mode and other engine-wide switches
  // Host arithmetic: dst = new reference.
  Binary,   // a b [NB_ code]
  Compare,  // a b [Py_EQ...]
  Unary,    // a [UnaryCode]
  Call,     // [callable, registers] a C callable from the table of pure ones
  Format,   // a b [conversion]
  Tuple,    // [registers]
  Copy,     // a                the same object
  Draw,     // a b [method]     the next number of a random.Random (b: of so many bits) or of a generator of numpy (b: a
            // tuple of arguments); taken back when the run is not committed
  Count_
};

enum UnaryCode : Word { unary_negative, unary_positive, unary_invert, unary_not };

/// SizeOf: the number of elements instead of a dimension.
constexpr Word all_elements = ~Word{0};

extern const Kind kinds[static_cast<size_t>(Op::Count_)];

inline uint8_t code(Op op) { return static_cast<uint8_t>(op); }

/// Four registers to a word, for kinds that take a list; unused places hold no_register.
std::vector<Word> pack(const std::vector<Register>& registers);
/// The operands of Op::Call; the file keeps the callee.
std::vector<Word> call_operands(RegisterFile& file, PyObject* callee, const std::vector<Register>& given);
/// Calls visit(register) for each of such a list, which begins behind `skip` operand words of an instruction.
template <class F>
void each_packed(const Word* at, int skip, F visit) {
  const Word* const list = at + 1 + skip;
  const size_t count = registers_per_word * static_cast<size_t>(head(at).words - 1 - skip);
  for (size_t i = 0; i < count; i++) {
    const Register r = packed_register(list, i);
    if (r != no_register) visit(r);
  }
}

/// What a program relies on about a class. While the version tag is unchanged nothing has to be looked at; when it has
/// changed, the look-ups are made again and, if they all agree, the new tag is taken over.
struct ClassFacts {
  struct LookUp {
    PyObject* name;   // strong, interned
    PyObject* found;  // borrowed from the file; null: the class has no such attribute
  };
  PyTypeObject* type = nullptr;  // borrowed; null when it is gone
  unsigned version = 0;
  std::vector<PyObject*> bases;  // borrowed: the classes that are looked into, in order
  /// Anything may have been looked up: only an unchanged tag will do.
  bool strict = false;
  /// Whether patterns take instances for sequences or mappings: not counted by the tag.
  unsigned long patterns = 0;
  getattrofunc getattro = nullptr;
  setattrofunc setattro = nullptr;
  std::vector<LookUp> look_ups;
  /// Of C code that may have asked for any special method: what each of special_names() is, null where the class has
  /// none. Empty: nobody asked.
  std::vector<PyObject*> special;  // borrowed from the file

  explicit ClassFacts(PyTypeObject* type);
  ClassFacts(const ClassFacts&) = delete;
  ~ClassFacts();
  bool hold();
  /// `found` has to be kept or watched by the file.
  void note(PyObject* name, PyObject* found);
  /// Which special methods the class has, and which not.
  void note_special_methods(RegisterFile& file);

 private:
  bool look_ups_hold();
};

/// The current version tag of a type; assigns one where it has none yet; 0 when no tag can be had.
unsigned version_of(PyTypeObject* type);

}  // namespace terra::capture
