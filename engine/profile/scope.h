// Scopes: what runs, how long, inside of what.
//
//     with profile() as p:
//         (x @ w).sum().backward()      # aten::matmul holds aten::mm; MmBackward0 holds the aten::mm of its rule
//     print(p.key_averages().table())
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/dims.h"

namespace terra::profile {

/// Where something comes from, innermost first: "train.py(12): step".
using Stack = std::vector<std::string>;

/// What a scope is of.
struct Subject {
  std::string name;               ///< empty: nothing to be seen
  std::vector<Dims> shapes = {};  ///< by argument; of what is no tensor, empty
  Stack stack = {};
};

/// A scope that has ended. Times in nanoseconds of the steady clock.
struct Event {
  Subject of;
  int64_t begin = 0, end = 0;
  int64_t outer = -1;   ///< the number of the scope around it; -1: none
  uint64_t thread = 0;  ///< as the system counts them
  int64_t bytes = 0;    ///< what tensors held at its end, less what they held at its begin
};

/// What is kept beside names and times.
struct Wishes {
  bool shapes = false, memory = false;
  Stack (*stack)() = nullptr;  ///< asked at the begin of scopes without a stack of their own; null: stacks aren't kept
};

namespace detail {
inline constinit std::atomic<bool> running = false;
}
inline bool is_running() { return detail::running.load(std::memory_order_relaxed); }

/// From here on scopes are kept. Any thread, as all below. Profiles may run at the same time: more is kept then than
/// each has wished.
uint64_t start(const Wishes& wishes);
/// Ends the profile that `start` gave the number. By number: all scopes that began in it, in that order; those under
/// way end now, those around it are unknown.
std::vector<Event> stop(uint64_t profile);

/// "aten::add_": what PyTorch's profiles call an op, and its in-place form.
std::string name_of_op(std::string_view op, bool in_place);

/// A scope that its user closes: its number, none while no profile runs.
using Opened = uint64_t;
constexpr Opened kNone = 0;
Opened open(Subject of);
/// Does nothing where no profile has it any more.
void close(Opened scope);
/// Whether a profile that runs keeps these.
bool wants_shapes();
bool wants_stacks();

/// What runs from its making to its end.
class Scope {
 public:
  /// `of` makes the subject. It is called while a profile runs only.
  template <class Of>
  explicit Scope(const Of& of) {
    if (is_running()) [[unlikely]]
      scope_ = open(of());
  }
  ~Scope() {
    if (scope_ != kNone) [[unlikely]]
      close(scope_);
  }
  Scope(const Scope&) = delete;

 private:
  Opened scope_ = kNone;
};

}  // namespace terra::profile
