// What an effect program would do, found out without doing it.
#pragma once
#include "interpreter_hooks/effects/effects.h"
#include "interpreter_hooks/effects/picture.h"

#include <map>
#include <memory>

namespace terra::capture {

/// Fresh objects are made for real, writes go to pictures of the program's objects. Every object that the entry program
/// has read is pictured as well: a write that the entry forgot shows as a difference.
class EffectRehearsal {
 public:
  /// After the entry program has run on `run`, and before the frame does. `all` has every register of the entry
  /// program, which `run` may not have.
  EffectRehearsal(const Program& entry, const RegisterFile& file, Run& run, const Run& all);
  ~EffectRehearsal();
  EffectRehearsal(const EffectRehearsal&) = delete;

  /// `omit`: number of a write that is left out, for fault injection; -1 for none.
  void apply(const EffectProgram& effects, Likeness& likeness, int omit);
  /// True if everything is as it would be after a run of the entry that returned.
  bool alike(Likeness& likeness, PyObject* result) const;
  /// Whether all that the program would do is known: false after prints and the like, which may raise, too.
  bool is_known() const { return known_; }
  /// What is assigned to the `data` of tensors of the program, by tensor; borrowed.
  const std::map<PyObject*, PyObject*>& data() const { return data_; }

 private:
  Picture* picture(PyObject* object, Register reg);
  void write(Word* at, Likeness& likeness);

  const RegisterFile& file_;
  Run& run_;
  std::map<PyObject*, std::unique_ptr<Picture>> pictures_;
  std::map<PyObject*, Picture*> owners_;  ///< by dict: the picture of the object whose attributes it holds
  std::map<PyObject*, PyObject*> data_;
  std::vector<PyObject*> held_;  // strong
  PyObject* result_ = nullptr;   // borrowed from held_
  bool known_ = true;            ///< false after an effect that cannot be pictured
};

/// Number of writes of an effect program.
int count_writes(const EffectProgram& effects);

}  // namespace terra::capture
