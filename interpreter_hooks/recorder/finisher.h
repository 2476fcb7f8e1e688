// The last step of a recording; private to finish.cpp and the tests.
#pragma once
#include "interpreter_hooks/recorder/recording.h"

namespace terra::capture {

class Finisher {
 public:
  explicit Finisher(Recording& recording) : r_(recording) {}
  std::unique_ptr<Entry> run();

 private:
  void coalesce();
  bool overwrites_a_fact();
  void keep_apart();
  void keep_keys_apart();
  void emit_writes();

  Recording& r_;
};

}  // namespace terra::capture
