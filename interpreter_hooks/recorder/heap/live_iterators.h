// Iterators of C that are under way, and the containers that they will read when they are asked for more.
#pragma once
#include "interpreter_hooks/recorder/core/value.h"

#include <unordered_map>
#include <vector>

namespace terra::capture {

class Recording;
struct ShadowFrame;

/// What map(abs, l) or chain(l, m) will read was made a fact when the iterator was made: until it is gone, none of the
/// containers may change.
class LiveIterators {
 public:
  /// `levels`: how deep C code looks into the operands, 1 for the items alone.
  void begin(Recording& r, PyObject* iterator, const std::vector<Value>& operands, int levels);
  /// The iterator gets one more operand from below: what a generator yields to it, or what an __iter__ has returned.
  void comes_to(Recording& r, PyObject* iterator, const Value& value);
  /// `outer` asks the other iterator for its items.
  void wraps(PyObject* outer, PyObject* inner) {
    std::vector<PyObject*>& all = outer_[inner];
    if (all.empty() || all.back() != outer) all.push_back(outer);
  }
  /// Whether the instruction has changed a container below an iterator that somebody still has.
  bool disturbed(Recording& r, const ShadowFrame& f);

 private:
  struct Walk {
    std::vector<PyObject*> containers;  // held by the recording
    int levels = 0;
  };
  bool is_alive(Recording& r, PyObject* iterator, int depth = 0) const;

  std::unordered_map<PyObject*, Walk> live_iterators_;           // by the iterator, which the recording holds
  std::unordered_map<PyObject*, std::vector<PyObject*>> outer_;  // those that ask it, all held
};

}  // namespace terra::capture
