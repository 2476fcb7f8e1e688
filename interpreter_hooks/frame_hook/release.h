// The entry's side of a run that lets other threads go on (graph/cache/release.h).
#pragma once
#include "interpreter_hooks/bindings/object.h"
#include "interpreter_hooks/entry/entry.h"

#include <memory>
#include <vector>

namespace terra::capture {

/// Registers are borrowed because nothing runs between the guards and the effects that could free what they refer to.
/// In a released run others do, so it holds them from before it gives the interpreter's lock away until it has
/// published (code of the program may run when it lets them go), and the tensors lent to the graph, and has all guards
/// checked again afterwards.
class EntryRelease final : public graph::Release {
 public:
  EntryRelease(Entry& entry, const Run& run) : entry_(entry), run_(run) {}
  EntryRelease(const EntryRelease&) = delete;
  /// The tensors that the run lends to the graph, in the order of Entry::tensors, until the graph has run.
  void lends(const std::vector<TensorImpl*>& tensors) { lent_ = &tensors; }

  void hold() override;
  /// The run was released.
  bool is_held() const { return held_ != nullptr; }
  /// The entry program holds once more, and reads and lends what it did before.
  bool stands() override;

  /// For runs that have changed more than they can leave to others: they drew from Python's random numbers.
  static bool may_release(const Run& run) { return !run.random.drawn(); }

 private:
  Entry& entry_;
  const Run& run_;
  const std::vector<TensorImpl*>* lent_ = nullptr;
  struct Held {
    std::vector<Tensor> tensors;
    std::vector<hooks::Object> objects;
  };
  std::unique_ptr<Held> held_;  ///< few runs are released: the others pay for a pointer
};

/// Lets a run of another thread end without which this one can't begin. False: a signal waits for its handler.
bool wait_for_another_run();

/// Gives graphs the interpreter's lock to give away.
void install_host_lock();

}  // namespace terra::capture
