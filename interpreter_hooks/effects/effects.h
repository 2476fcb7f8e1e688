// The effect program: fresh objects and deferred writes, in program order, after the graph has been committed.
//
// It shares the registers of the entry program. Every borrowed register that it or the late program uses is made strong
// before anything is published (`Held`): a write may drop the last reference to something. It fails only for want of
// memory or through a user's __del__, and then the exception is the frame's.
#pragma once
#include "interpreter_hooks/guards/program.h"

#include <vector>

namespace terra::capture {

enum class Effect : uint8_t {
  // Fresh objects: dst = new reference.
  MakeTuple,     // [registers]
  MakeTupleOf,   // [type, registers]  an instance of a subclass of tuple
  MakeList,      // [registers]
  MakeSize,      // [registers]  a terra.Size
  MakeDict,      // [registers: key, value, key, value...]
  MakeObject,    // [type, registers: name, value...]  an instance whose attributes live in its dict or slots
  MakeMethod,    // a b   bound method of function a and object b
  MakeCell,      // a, or no_register for an empty cell
  MakeFunction,  // a b [code, globals, qualified name, registers: name, default...]  a: closure, b: defaults, or none
  MakeCall,   // [callable, keyword names or 0, registers]  what a C callable without effects makes: deque, enumerate,
              // ...
  MakeBound,  // a b   what descriptor a gives for object b
  MakeIterator,  // a [walk, index]   an iterator over a that has yielded `index` items
  // Writes.
  SetAttribute,       // a b [name]
  SetPlainAttribute,  // a b [name]  as object.__setattr__ does
  DeleteAttribute,    // a [name]
  SetItem,            // a b [key register]
  DeleteItem,         // a [key register]
  Append,             // a b
  SetCell,            // a b
  Modes,              // [modes_of_blocks of engine_mode()]
  CallMethod,         // [callable, keyword names or 0, registers]  list.insert, print, ...
  Count_
};

/// How a MakeIterator walks.
enum Walk : Word { walk_plain, walk_values, walk_items, walk_reversed };

extern const Kind effect_kinds[static_cast<size_t>(Effect::Count_)];

/// The operands of MakeCall and CallMethod; the file keeps the callee and the names of the last arguments.
std::vector<Word> called_with(RegisterFile& file, PyObject* callee, const std::vector<Register>& given,
                              PyObject* names = nullptr);

class EffectProgram {
 public:
  EffectProgram() : program_(effect_kinds) {}

  void emit(Effect kind, Register dst, Register a, Register b, const std::vector<Word>& operands = {}) {
    program_.emit(kind, dst, a, b, operands);
  }
  /// To be called once, when everything is emitted: `results` is what leaves the frame (no_register: a null). `late` is
  /// the entry's program that runs between the commit and this one.
  void finish(std::vector<Register> results, const Program& late, const RegisterFile& file);

  /// Fills in new references to the results, as many as finish() was told of. False, with an exception set and nothing
  /// filled in, when an effect failed.
  bool run(Run& run, PyObject** results);
  size_t result_count() const { return results_.size(); }
  const Program& program() const { return program_; }
  Register result() const { return results_.front(); }
  /// Strong references to what this program and the late one use and the run has only borrowed. To be taken when the
  /// guards hold: once the graph commits, code of the user's may run (weak references to a gradient that is replaced)
  /// and drop anything.
  class Held {
   public:
    Held(const EffectProgram& effects, Run& run) : effects_(effects), run_(run) {
      for (Register r : effects_.borrowed_) Py_INCREF(run_.registers[r]);
    }
    ~Held() {
      for (Register r : effects_.borrowed_) Py_DECREF(run_.registers[r]);
    }
    Held(const Held&) = delete;

   private:
    const EffectProgram& effects_;
    Run& run_;
  };

  /// Calls visit(register) for every borrowed register that it or the late program uses, once.
  template <class F>
  void each_use(F visit) const {
    for (Register r : borrowed_) visit(r);
  }

 private:
  Program program_;
  std::vector<Register> results_;
  std::vector<Register> borrowed_;
};

}  // namespace terra::capture
