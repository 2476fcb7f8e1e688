// The rules: what an instruction does to the shadow. Two small functions per kind, collected in one table.
#pragma once
#include "interpreter_hooks/recorder/core/recording.h"

namespace terra::capture {

/// `begin` runs before CPython executes the instruction; its operands are in pending.in already. `end` runs after it,
/// only if it did not raise, and pushes exactly as many values as cpython/instructions.h says. Reads of what the
/// instruction is going to change belong to begin, writes to end.
struct Rule {
  int kind;
  void (*begin)(Recording& r, ShadowFrame& f);
  void (*end)(Recording& r, ShadowFrame& f);
};

enum class Next : uint8_t { None, Falls, Jumps, Branches, Leaves };

/// Everything about one kind of instructions: its line in cpython/instructions.h and its rules.
struct Rules {
  const char* name = nullptr;
  int (*pops)(const TerraInstruction& instruction) = nullptr;
  int (*pushes)(const TerraInstruction& instruction) = nullptr;
  Next next = Next::None;
  const Rule* rule = nullptr;  ///< null: ends the recording
  /// Makes a fact of whatever made the instruction raise; null: an exception ends the recording.
  void (*raised)(Recording& r, ShadowFrame& f) = nullptr;
};

const Rules& rules_of(int kind);

struct RuleList {
  const Rule* rules;
  size_t count;
};
RuleList stack_rules();
RuleList data_rules();
RuleList build_rules();
RuleList jump_rules();
RuleList call_rules();
RuleList iteration_rules();
RuleList exception_rules();
RuleList match_rules();
RuleList import_rules();
RuleList shorthand_rules();

struct RaiseRule {
  int kind;
  void (*raised)(Recording& r, ShadowFrame& f);
};
struct RaiseRuleList {
  const RaiseRule* rules;
  size_t count;
};
RaiseRuleList raise_rules();

/// A dict that the program has at a known place: globals, builtins, attributes of a module. Where the frame was also
/// given it in another way, that it is the one is a fact.
Value dict_of_program(Recording& r, PyObject* dict, const std::string& path);
Value dict_of_module(Recording& r, PyObject* module);
/// One of the dicts of a terra.nn.Module. The same where the frame was given it in another way.
Value part_of_module(Recording& r, Value& module, uint64_t part, PyObject* dict);
/// ModuleBase.__init__ has run on a module made inside: the dicts that it has given the module are made inside, too.
void initialised_module(Recording& r, const Value& module);
/// The class behind which a super() looks, and the object that it is bound to or null; borrowed.
PyTypeObject* class_of_super(PyObject* super);
PyObject* object_of_super(PyObject* super);
/// Says which of two objects they are: where both exist when the frame begins, only a guard can tell whether they are
/// one.
void tell_apart(Recording& r, Value& a, Value& b);

/// Whether code of the program would run inside the recorded frames if what they are at raised.
bool is_caught_inside(const Recording& r);

/// The open instruction is a call below which frames run that concern nobody.
bool is_unseen(const Pending& pending);

bool all_atoms(const std::vector<Value>& values);
bool all_facts(const std::vector<Value>& values);

/// What a loop or iter() has got from a value: of a class of the program's own it is what __iter__ has returned.
Value iterator_from(Recording& r, ShadowFrame& f, Value& value, PyObject* iterator);
/// Whether the key is an int that differs between runs and that a dict or set from outside doesn't have, which is a
/// fact from then on while the int is none.
bool lacks_number(Recording& r, Value& container, Value& key);

/// The value of a scalar or Python operator from its operands: fact, host arithmetic, child frame or tensor.
Value operator_result(Recording& r, ShadowFrame& f, Op op, Word code, PyObject* result);
/// The same of numbers and strings.
Value scalar_result(Recording& r, std::vector<Value>& in, Op op, Word code, PyObject* result);

}  // namespace terra::capture
