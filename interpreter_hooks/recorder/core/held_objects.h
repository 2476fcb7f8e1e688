// The program's objects that a recording keeps alive.
#pragma once
#include <Python.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace terra::capture {

/// Strong references, in the order in which they were taken; how many there are to an object is known at once.
class HeldObjects {
 public:
  HeldObjects() = default;
  HeldObjects(const HeldObjects&) = delete;

  void hold(PyObject* object) {
    all_.push_back(Py_NewRef(object));
    counts_[object].held++;
  }
  Py_ssize_t times(PyObject* object) const {
    const auto found = counts_.find(object);
    return found == counts_.end() ? 0 : found->second.held;
  }
  /// Calls f(object, times) for each object that is held, in no order.
  template <class F>
  void each(F&& f) const {
    for (const auto& [object, count] : counts_)
      if (count.held > 0) f(object, count.held);
  }
  /// One of the references to it goes, if there is any.
  void let_go(PyObject* object) {
    const auto found = counts_.find(object);
    if (found == counts_.end() || found->second.held == 0) return;
    found->second.held--;
    found->second.gone++;
    Py_DECREF(object);
  }
  /// All references, which are the caller's from now on.
  std::vector<PyObject*> take() {
    std::vector<PyObject*> taken = std::exchange(all_, {});
    std::unordered_map<PyObject*, Count> counts = std::exchange(counts_, {});
    std::erase_if(taken, [&](PyObject* object) {
      Py_ssize_t& gone = counts[object].gone;
      return gone > 0 && gone-- > 0;
    });
    return taken;
  }

 private:
  struct Count {
    Py_ssize_t held = 0;
    Py_ssize_t gone = 0;  ///< references in `all_` that have been let go already
  };
  std::vector<PyObject*> all_;
  std::unordered_map<PyObject*, Count> counts_;
};

}  // namespace terra::capture
