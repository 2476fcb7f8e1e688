// Loops whose number of rounds follows from numbers that differ between calls.
//
// CPython runs the rounds one by one, and so the trace has them. Here is remembered where each began and what the
// program held then. What counts the rounds is a number of the trace, and that a round came, or none, is a fact about
// it. At the end rounds that begin in like states become one record (graph/trace/roll.h), which serves any number of
// them; where that can't be, the numbers become facts of the entry.
#pragma once
#include "interpreter_hooks/recorder/region/program_state.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace terra::capture {

class Loops {
 public:
  explicit Loops(Recording& recording);

  /// Whether the range that an instruction has just made from these numbers is walked over by a `for` whose rounds may
  /// vary. Makes a fact of its step.
  bool counts(ShadowFrame& frame, std::vector<Value>& numbers);
  /// The iterator over such a range, and what it does at a FOR_ITER: the number of the round that came, `produced`, or
  /// none.
  Value iterator(PyObject* iterator, PyObject* range);
  Value reversed(PyObject* iterator, PyObject* range);
  Value next(Iterator& counter, PyObject* produced);
  void ended(Iterator& counter);

  /// Before each instruction.
  void arrive(ShadowFrame& frame, int offset) {
    if (watching_) look(frame, offset);
  }
  /// An item was appended to a list made inside.
  void appended(Shadow& list);
  /// Somebody asks something about a list that loops append to.
  void asked(Shadow& list);
  /// A call of the engine has taken such a list as a list of tensors.
  void taken(PyObject* list) { taken_.push_back(list); }
  /// After each instruction.
  void settle();
  /// A fact about a number that rounds decide: what it follows from, should the loop not become one record.
  void rely_on(const std::vector<Value>& numbers);
  /// The truth of a number that no round decides has become a fact of the entry.
  void decided();
  /// The truth of a tensor is about to become a branch. `first`: what the program makes of it is still to come.
  void asks(bool truth, bool first);
  void decided_by_value();
  /// The versions of tensors, which every round changes, were asked for.
  void spoil() { spoiled_ = true; }

  /// At the end, when everything that the trace is used for is known. `cut`: the program goes on in the frame.
  void roll(bool cut);
  /// A tensor's value decides something in a loop that has become one record.
  bool rolled_by_value() const { return !by_value_.empty(); }
  /// No graph can be made of them: not again.
  void unroll();

 private:
  /// How much of the entry there is. A round that can be any of many adds nothing.
  struct Marks {
    int entry, late;
    size_t outputs;
    bool operator==(const Marks&) const = default;
  };
  struct Round {
    size_t record;
    Marks marks;
    size_t writes;
    size_t branches;  ///< so far, loops that have become one record aside
    /// What the round before this one stored went to the places that the round before that had stored to: one store
    /// remains of them all.
    bool stored_again = false;
    ProgramState state;  ///< of the first few rounds
    ProgramState alive;  ///< where tensors are known to decide something
  };
  /// In a round the truth of a tensor was asked for.
  struct Visit {
    size_t record;
    Marks marks;
    size_t writes;
    graph::LoopPlan::State state;
    bool truth;
    std::vector<graph::TraceId> held;
    size_t listed;  ///< items of lists that the state leaves out
  };
  /// Instructions [first, last] of a code. A `while` with `continue` asks in two places whether it goes on: behind the
  /// body, and before it, from `from` on.
  struct Body {
    int first = -1, last = -1, from = -1;
    int decision = -1;  ///< the jump that decides about another round
    int twin = -1;      ///< the one before the first that goes where that goes
  };
  struct Watch {
    static constexpr size_t not_left = ~size_t{0};
    PyObject* iterator = nullptr;        ///< of a `for`; null: of a `while`
    const ShadowFrame* frame = nullptr;  ///< that walks through the body
    Body body;
    long began = 0;
    std::string place;
    std::vector<Round> rounds;
    std::vector<Value> relied_on;
    size_t depth = 0;       ///< frames
    size_t end = not_left;  ///< the first record behind the loop
    std::vector<Visit> visits;
    bool visits_known = true;  ///< all of them
    bool forgets = false;      ///< they leave out variables that nobody will ask for
    std::map<std::vector<uint64_t>, graph::LoopPlan::State> states;
  };

  void look(ShadowFrame& frame, int offset);
  void open(Watch& watch, ShadowFrame& frame);
  void close(const ShadowFrame& frame, int offset);
  /// Of its `while` loops: the last instruction of each jumps back to the first.
  const std::vector<Body>& bodies(const ShadowFrame& frame);
  static void find_twins(const ShadowFrame& frame, std::vector<Body>& bodies);
  void round(Watch& watch);
  void number_locals();
  Marks marks() const;
  void count_locals(ShadowFrame& frame, const Body& body);
  bool stored_again(const std::vector<Round>& rounds) const;
  bool roll(Watch& watch, const std::vector<graph::TraceId>& outputs);
  // loop_branches.cpp
  bool roll_branches(Watch& watch, const std::vector<graph::TraceId>& outputs);
  bool may_show_more(const Watch& watch) const;
  static bool stays(const Watch& watch, size_t round);
  static size_t first_of_same(const Watch& watch);
  bool leaves_alike(const Watch& watch, size_t first, size_t exit) const;
  static size_t exit_of(const Watch& watch, size_t first);
  static bool is_seen_clean(const Watch& watch, size_t first, size_t exit);
  void replaced(Watch& watch, const graph::Rolled& rolled, size_t branch);
  void replace_branches(size_t first, size_t count);
  void number_branches();
  std::vector<graph::TraceId> used_behind(const Watch& watch, std::vector<graph::TraceId> outputs) const;
  std::string place_of(const ShadowFrame& frame, int offset) const;

  Recording& r_;
  const bool watching_;   ///< numbers or sizes differ between calls
  bool spoiled_ = false;  ///< no loop becomes one record
  std::vector<Watch> watches_;
  std::vector<size_t> open_;  ///< of them, those of loops that haven't been left
  std::unordered_map<PyCodeObject*, std::vector<Body>> bodies_;
  bool cut_ = false;
  struct Rolled {
    std::string place;
    bool branches;
  };
  std::vector<Rolled> by_value_;                ///< loops in which tensors' values decide something
  std::vector<PyObject*> handed_over_, taken_;  ///< lists that the open call of the engine has been given, has taken
};

}  // namespace terra::capture
