#include "interpreter_hooks/verify/chaos.h"

#include "interpreter_hooks/recorder/core/cuts.h"

#include "engine/errors/errors.h"
#include "graph/cache/pair.h"
#include "graph/cache/release.h"
#include "graph/executor/plan.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

namespace terra::capture {

namespace {

constexpr int any = -2;

/// "N@K": number N, or `*` for each in turn, at every K-th run.
struct Schedule {
  int number = -1;
  long every = 0;
  long runs = 0;

  /// -1, or the number to fail among `count`.
  int next(int count) {
    if (every <= 0 || count <= 0 || ++runs % every != 0) return -1;
    if (number == any) return static_cast<int>((runs / every - 1) % count);
    return number < count ? number : -1;
  }
};

struct Chaos {
  Schedule guards, asserts, values, ops, interrupts, overtaken;
  Schedule errors[2];
  double probability = 0;
  size_t least_calls_of_a_cut = least_calls_before_cut;
  std::mt19937 random{1};
};

/// What is to happen in the run that the thread is in: nodes up to it, -1 for never.
struct NodeFaults {
  int op = -1, interrupt = -1;
};
thread_local NodeFaults node_faults;

Chaos& chaos() {
  static Chaos instance;
  return instance;
}

Schedule parse(const std::string& text) {
  Schedule schedule;
  size_t at = text.find('@');
  std::string number = text.substr(0, at);
  schedule.number = number == "*" ? any : std::atoi(number.c_str());
  schedule.every = at == std::string::npos ? 1 : std::atol(text.c_str() + at + 1);
  return schedule;
}

}  // namespace

size_t least_calls_of_a_cut() { return chaos().least_calls_of_a_cut; }

void read_chaos() {
  const char* variable = std::getenv("TERRA_CHAOS");
  chaos() = Chaos();
  spoiled_way = -1;
  graph::spoils_gradients() = false;
  forgets_words = chaos_was_asked_for = false;
  std::string text = variable ? variable : "";
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string part = text.substr(at, end - at);
    size_t equals = part.find('=');
    std::string name = part.substr(0, equals), value = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (name == "spoil") {
      spoiled_way = static_cast<int>(std::find(way_names.begin(), way_names.end(), value) - way_names.begin());
      graph::spoils_gradients() = value == "backward";
    }
    if (name == "forget") forgets_words = value == "1";
    if (name == "memory") graph::lent_bytes() = static_cast<size_t>(std::max(std::atol(value.c_str()), 1L));
    chaos_was_asked_for |= !name.empty() && name != "spoil" && name != "forget" && name != "memory";
    if (name == "guard") chaos().guards = parse(value);
    if (name == "assert") chaos().asserts = parse(value);
    if (name == "value") chaos().values = parse(value);
    if (name == "op") chaos().ops = parse(value);
    if (name == "interrupt") chaos().interrupts = parse(value);
    if (name == "release") {
      chaos().overtaken = parse(value);
      graph::release_faults() = {true, [] { return chaos().overtaken.next(1) == 0; }};
    }
    if (name == "error") {
      const Schedule schedule = parse(value);
      for (int place = 0; place < 2; place++) {
        if (schedule.number == place || schedule.number == any) chaos().errors[place] = {0, schedule.every};
      }
    }
    if (name == "p") chaos().probability = std::atof(value.c_str());
    if (name == "seed") chaos().random.seed(static_cast<unsigned>(std::atol(value.c_str())));
    if (name == "cut") chaos().least_calls_of_a_cut = static_cast<size_t>(std::atol(value.c_str()));
    at = end + 1;
  }
}

Fault next_fault(int guards, size_t nodes) {
  Chaos& c = chaos();
  Fault fault;
  fault.guard = c.guards.next(guards);
  fault.assertion = nodes > 0 && c.asserts.next(1) >= 0;
  node_faults = {c.ops.next(static_cast<int>(nodes)), c.interrupts.next(static_cast<int>(nodes))};
  if (c.probability > 0 && guards > 0 && std::uniform_real_distribution<>(0, 1)(c.random) < c.probability) {
    fault.guard = static_cast<int>(c.random() % static_cast<unsigned>(guards));
  }
  return fault;
}

bool poll_for_faults() {
  if (node_faults.op >= 0 && node_faults.op-- == 0) fail(ErrorKind::RuntimeError, "fault injection");
  return node_faults.interrupt >= 0 && node_faults.interrupt-- == 0;
}

int next_wrong_value(int count) { return chaos().values.next(count); }

void break_here(Breakpoint place) {
  if (chaos().errors[static_cast<int>(place)].next(1) == 0) throw InternalError("fault injection");
}

}  // namespace terra::capture
