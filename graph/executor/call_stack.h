// The activations of nested and called graphs that are under way, on a stack of their own: calls may be of any depth.
#pragma once
#include <memory>
#include <vector>

#include "graph/executor/activation.h"

namespace terra::graph {

/// Calls that don't end are an Error when the activations that wait take so much memory. Tests set another number.
size_t& most_bytes_of_calls();

/// Activations lie one behind the other in large blocks, each with its tables and its arena. The last one that was
/// entered runs.
class CallStack {
 public:
  CallStack() = default;
  ~CallStack();
  CallStack(const CallStack&) = delete;
  static CallStack& of_thread();

  /// A new activation, which `caller` has at `step`. It runs when the step that is running has returned false.
  Activation& enter(Instance& instance, Activation& caller, ControlBlock& step);

  /// Runs what `caller` has entered, and what that enters, until the caller can go on behind its step. False: it was
  /// stopped (it says why), or hasn't entered anything.
  bool finish(Activation& caller, bool (*interrupted)());

 private:
  struct Frame;
  struct Chunk {
    std::unique_ptr<char[]> memory;
    size_t bytes = 0;
  };

  char* reserve(size_t bytes);
  void leave();
  bool run(Frame& frame, bool (*interrupted)());

  std::vector<Chunk> chunks_;
  size_t bytes_ = 0;             ///< of all
  size_t chunk_ = 0, used_ = 0;  ///< where the next one comes
  Frame* top_ = nullptr;
};

}  // namespace terra::graph
