// How the body of a long run lets other threads of the program go on.
//
// The body writes nothing that the program can see, so it needs the host's lock only for what it reads. A run that is
// *released* gives the lock away for the length of its body, takes it back, and then asks whether everything that it
// was bound to is still so: the memory of every tensor that it read and what is in it, and whatever the caller's guards
// rest on. If it is, the run commits, and is one that happened as a whole at its commit, wherever the other threads
// were then. If not, it was *overtaken*: it is discarded and nothing has happened. The tail and the publishing keep the
// lock.
//
// Random numbers are drawn from copies of the generators, which take over the copies' states if nobody else has drawn.
//
// Kept under the lock are runs that call the host, merged paths, and runs whose caller passes no Release. Bytes that
// others write without telling (numpy's view of a tensor, shared memory) are read as they are at the moment, as eager
// execution reads them; a run that writes such bytes keeps the lock.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/tensor/tensor.h"

namespace terra::graph {

/// The caller's side of a released run.
class Release {
 public:
  virtual ~Release() = default;
  /// Before the lock is given away: makes sure that nothing the run was lent can die.
  virtual void hold() = 0;
  /// With the lock again, when others have had it: whether what the caller knew before the run is still so.
  virtual bool stands() = 0;
};

/// For fault injection: every run is released, however short, and checked as if others had run in between;
/// `overtaken`, asked for each, may say that one has to be discarded. Set before anything is compiled.
struct ReleaseFaults {
  bool every_run = false;
  bool (*overtaken)() = nullptr;
};
ReleaseFaults& release_faults();

/// How long the bodies of one program's runs take, measured until that is settled.
class Tempo {
 public:
  /// `varies`: the length depends on the values of the run, and no number of short ones settles it.
  explicit Tempo(bool varies);

  /// Nothing needs measuring or releasing any more.
  bool is_short() const { return settled_; }
  /// Whether the next body is. To be asked once for each.
  bool is_to_be_released();
  void took(int64_t nanoseconds);
  /// By how many nanoseconds the first body was longer than the shortest one that was measured since.
  double first_excess() const {
    return shortest_ > 0 && first_ > shortest_ ? static_cast<double>(first_ - shortest_) : 0;
  }
  /// A run that is overtaken again and again keeps the lock for a number of runs that doubles each time.
  void released(bool overtaken);

 private:
  static constexpr int kShortRuns = 3;  ///< in a row, to settle it
  static constexpr int kMostKept = 6;   ///< at most 2^6 runs

  const bool varies_;
  bool settled_ = false;
  int short_ = 0;
  int64_t last_ = 0, first_ = 0, shortest_ = 0;
  int overtaken_ = 0, keeps_ = 0;
};

/// What a released body reads, so that it stays where it is, and is seen to be what it was.
class HeldTensors {
 public:
  void add(TensorImpl* tensor);
  bool unchanged() const;

 private:
  struct Held {
    TensorImpl* tensor;
    Ref<Storage> storage;
    uint32_t writes;
    int64_t offset;
  };
  std::vector<Held> held_;
};

/// Marks a program whose body is under way without the lock: nobody else may run it then. Changed under the lock.
class Flight {
 public:
  enum class State : uint8_t {
    None,
    UnderWay,  ///< await_landing() and try again
    Lost,      ///< it was under way in the parent of this process: its thread is not here, and never lands
  };
  State state() const;
  bool none() const { return process_ == 0; }

  class Scope {
   public:
    explicit Scope(Flight& flight);
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    Flight& flight_;
  };

 private:
  uint32_t process_ = 0;
};

/// Waits without the host's lock until any flight has landed, or for a moment: long enough not to burn the processor,
/// short enough to look for signals in between.
void await_landing();

}  // namespace terra::graph
