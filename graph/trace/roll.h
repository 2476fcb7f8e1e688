// Rounds of a loop that a trace has one after the other, as one record that stands for any number of them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "graph/trace/trace.h"

namespace terra::graph {

/// What the caller vouches for: at the start of any two consecutive rounds the program is in the same state but for the
/// numbers of the values that it holds, and what it does then follows from that state and from the trace's facts. So
/// every further round does the same, and the rounds that the trace has are there to be compared.
struct LoopPlan {
  std::vector<size_t> rounds;  ///< the first record of each round; the last round need not be whole
  std::vector<TraceId> before,
      after;  ///< what the program holds when the first and when the second round starts, in one order
  struct Grown {
    TraceId list;          ///< TraceArg::grown
    size_t before, after;  ///< how many items it has when the first and when the second round starts
  };
  std::vector<Grown> grown;
  struct Later {
    size_t record;
    std::vector<TraceId> held;  ///< what the program holds there, which other rounds may begin with that become one
  };
  std::vector<Later> later;
  bool by_value = false;  ///< rounds assert something: the value of a tensor is what ends the loop

  // Of rounds that went different ways (fold.h).
  using State = size_t;
  /// Where a round asks for a truth.
  struct Place {
    size_t record;              ///< the assert
    State state;                ///< moments in one state are alike but for the numbers of the values held
    std::vector<TraceId> held;  ///< in one order
  };
  std::vector<Place> places;               ///< all of them; none where nothing is known
  std::vector<std::vector<TraceId>> held;  ///< when each round begins, which is one state
  size_t end = 0;                          ///< the first record that is behind the loop
};

/// The records from `first` on that have become one; none where `count` is 0.
struct Rolled {
  size_t first = 0, count = 0;
  size_t rounds = 0;   ///< whole rounds among them; it is in the next one that the loop is left
  size_t asserts = 0;  ///< asserts among them
};

/// The loop is left where a fact (by value: an assert) that held in all rounds is first another one; the records behind
/// stay as they are. Nothing is changed where rounds differ, where they do what only a known number of rounds can do
/// (asserts, items, hooks; by value: gradients, lists that grow), or where something made in a round is used behind the
/// loop and isn't alive at its end. `outputs` are used at
/// the end of the trace; `next` is the first number that is free.
Rolled roll(Trace& trace, const LoopPlan& plan, std::span<const TraceId> outputs, TraceId& next);

}  // namespace terra::graph
