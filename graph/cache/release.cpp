#include "graph/cache/release.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "engine/eager/host_lock.h"

namespace terra::graph {
namespace {

/// Tells those who wait that a flight has landed. A forked child gets a new one: the parent's may be locked.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t landings = 0;
};
Board* board_of_process = nullptr;
/// Number of the process, counted from the first one by forks.
uint32_t process = 1;

Board& board() {
  static const int registered = [] {
    board_of_process = new Board;
    return pthread_atfork(nullptr, nullptr, [] {
      board_of_process = new Board;
      ++process;
    });
  }();
  static_cast<void>(registered);
  return *board_of_process;
}

}  // namespace

ReleaseFaults& release_faults() {
  static ReleaseFaults faults;
  return faults;
}

Tempo::Tempo(bool varies) : varies_(varies || release_faults().every_run) {}

bool Tempo::is_to_be_released() {
  if (release_faults().every_run) return true;
  if (last_ < kLongWork) return false;
  if (keeps_ == 0) return WithoutHostLock::is_due(last_);
  --keeps_;
  return false;
}

void Tempo::took(int64_t nanoseconds) {
  last_ = nanoseconds;
  if (first_ == 0)
    first_ = nanoseconds;
  else
    shortest_ = shortest_ == 0 ? nanoseconds : std::min(shortest_, nanoseconds);
  short_ = nanoseconds < kLongWork ? short_ + 1 : 0;
  settled_ = !varies_ && short_ >= kShortRuns;
}

void Tempo::released(bool overtaken) {
  overtaken_ = overtaken ? std::min(overtaken_ + 1, kMostKept) : 0;
  keeps_ = overtaken_ > 1 ? 1 << overtaken_ : 0;
}

void HeldTensors::add(TensorImpl* tensor) {
  held_.push_back({tensor, tensor->storage, tensor->storage->writes(), tensor->offset});
}

bool HeldTensors::unchanged() const {
  return std::all_of(held_.begin(), held_.end(), [](const Held& h) {
    return h.tensor->storage == h.storage && h.storage->writes() == h.writes && h.tensor->offset == h.offset;
  });
}

Flight::State Flight::state() const {
  if (process_ == 0) return State::None;
  return process_ == process ? State::UnderWay : State::Lost;
}

Flight::Scope::Scope(Flight& flight) : flight_(flight) {
  board();
  flight_.process_ = process;
}

Flight::Scope::~Scope() {
  flight_.process_ = 0;
  Board& b = board();
  {
    const std::lock_guard lock(b.mutex);
    ++b.landings;
  }
  b.changed.notify_all();
}

void await_landing() {
  constexpr std::chrono::milliseconds kMoment{20};
  Board& b = board();
  std::unique_lock lock(b.mutex);
  const uint64_t seen = b.landings;
  lock.unlock();
  WithoutHostLock others;
  lock.lock();
  b.changed.wait_for(lock, kMoment, [&] { return b.landings != seen; });
  lock.unlock();
  others.take_back();
}

}  // namespace terra::graph
