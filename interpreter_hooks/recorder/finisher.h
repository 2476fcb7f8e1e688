// The last step of a recording; private to finish.cpp and the tests.
#pragma once
#include "interpreter_hooks/recorder/recording.h"

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
  void keep_instances_apart(PyTypeObject* type);
  void keep_keys_apart();
  void emit_writes();
  void enter_modes(const std::vector<Value>& leaving);
  Register make_mode(Shadow& shadow);

  Recording& r_;
};

}  // namespace terra::capture
