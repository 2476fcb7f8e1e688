// The last step of a recording; private to finish.cpp, alias_guards.cpp and the tests.
#pragma once
#include "interpreter_hooks/recorder/core/recording.h"

#include <map>
#include <set>
#include <tuple>

namespace terra::capture {

class Finisher {
 public:
  explicit Finisher(Recording& recording) : r_(recording) {}
  /// `leaving`: what the entry's runs give back; unknown and NULL values among them are nulls. `cut`: the frame goes
  /// on.
  std::unique_ptr<Entry> run(const std::vector<Value>& leaving, bool cut);

 private:
  bool overwrites_a_fact();
  void keep_apart();
  void keep_attributes_apart();
  std::vector<Register> who_relies_on(PyObject* name, const std::set<PyObject*>& whole);
  std::set<PyObject*> changed_names();
  bool changes_any_key(PyObject* object, const Shadow& shadow) const;
  void keep_keys_apart();
  bool too_many(size_t count, const char* what);
  struct Moves;
  void guard_quiet(Op op, const Write& write, std::vector<Word> operands, Register b);
  void keep_item_quiet(const Write& write, Py_ssize_t place);
  void keep_items_quiet(const Write& write, const Moves& moves);
  void keep_value_quiet(const Write& write);
  Register key_register(const Write& write);
  Register constant_register(PyObject* object);
  void keep_quiet(const Write& write, const std::map<PyObject*, Moves>& moves);
  void keep_departures_quiet();
  void keep_slots_quiet(const ShadowFrame& root);
  void emit_writes();
  void enter_modes(const std::vector<Value>& leaving);
  Register make_mode(Shadow& shadow);

  Recording& r_;
  std::set<std::tuple<Op, Register, Register, PyObject*>> quiet_;  ///< guards that there are already
  std::map<PyObject*, Register> constants_;
  Register late_quiet_ = no_register;  ///< a register of one that has to wait for the graph; the last one waits with it
};

}  // namespace terra::capture
