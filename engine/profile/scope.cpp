#include "engine/profile/scope.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "engine/memory/allocator.h"

namespace terra::profile {
namespace {

/// The scopes that profiles which run have seen.
struct Profiles {
  std::mutex mutex;  ///< of what isn't atomic
  /// What any that runs has wished.
  std::atomic<bool> shapes = false, memory = false;
  std::atomic<Stack (*)()> stack = nullptr;
  size_t running = 0;
  Opened first = 1;  ///< the number of the first of `events`
  std::vector<Event> events;

  Event* find(Opened scope) {
    return scope >= first && scope - first < events.size() ? &events[scope - first] : nullptr;
  }
};

Profiles& profiles() {
  static auto& all = *new Profiles;  // threads may outlive all else
  return all;
}

thread_local Opened innermost = kNone;

int64_t now() {
  using std::chrono::nanoseconds, std::chrono::steady_clock;
  return std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

int64_t live_bytes() { return static_cast<int64_t>(memory::statistics().live_bytes); }

}  // namespace

uint64_t start(const Wishes& wishes) {
  Profiles& all = profiles();
  const std::lock_guard lock(all.mutex);
  const bool is_first = all.running++ == 0;
  all.shapes = wishes.shapes || (!is_first && all.shapes);
  all.memory = wishes.memory || (!is_first && all.memory);
  if (wishes.stack || is_first) all.stack = wishes.stack;
  detail::running = true;
  return all.first + all.events.size();
}

std::vector<Event> stop(uint64_t profile) {
  Profiles& all = profiles();
  const std::lock_guard lock(all.mutex);
  std::vector<Event> seen(all.events.begin() + static_cast<std::ptrdiff_t>(profile - all.first), all.events.end());
  const auto before = static_cast<int64_t>(profile - all.first);
  for (Event& e : seen) {
    e.outer = std::max<int64_t>(e.outer - before, -1);
    if (e.end != 0) continue;
    e.end = now();
    if (all.memory) e.bytes += live_bytes();
  }
  if (--all.running > 0) return seen;
  detail::running = false;
  all.first += all.events.size();
  all.events.clear();
  return seen;
}

std::string name_of_op(std::string_view op, bool in_place) {
  std::string name = "aten::";
  for (const char c : op) name += c == '.' ? '_' : c;  // linalg.inv
  return in_place ? name + "_" : name;
}

bool wants_shapes() { return profiles().shapes; }
bool wants_stacks() { return profiles().stack != nullptr; }

Opened open(Subject of) {
  if (of.name.empty()) return kNone;
  Profiles& all = profiles();
  Event e;
  e.of = std::move(of);
  e.thread = static_cast<uint64_t>(gettid());
  if (Stack(*const stack)() = all.stack; stack && e.of.stack.empty()) e.of.stack = stack();
  const std::lock_guard lock(all.mutex);
  if (all.running == 0) return kNone;
  if (all.find(innermost)) e.outer = static_cast<int64_t>(innermost - all.first);
  if (all.memory) e.bytes = -live_bytes();
  innermost = all.first + all.events.size();
  e.begin = now();
  all.events.push_back(std::move(e));
  return innermost;
}

void close(Opened scope) {
  Profiles& all = profiles();
  const int64_t end = now();
  const std::lock_guard lock(all.mutex);
  Event* const e = all.find(scope);
  if (!e) return;
  e->end = end;
  if (all.memory) e->bytes += live_bytes();
  innermost = e->outer < 0 ? kNone : all.first + static_cast<Opened>(e->outer);
}

}  // namespace terra::profile
