// Numbers and strings that the ways to a place left different.
//
// Where paths of a frame meet again (graph/trace/join.h), a variable may hold another value on each: `scale = 2.0` on
// one side of a branch, `scale = 0.5` on the other. Once that has been seen, the variable's value at the place is
// chosen by the way a run came: the recording moves it into a register of its own, of which it knows nothing but the
// type, and sums of such registers are computed again between places. All this is the entry program's where a path runs
// alone.
//
// Law: nothing is ever guarded about a chosen value, for no guard of a path speaks of what another path left. Where
// something has to be known about one, it becomes what it was before, and the next call is recorded.
#pragma once
#include "interpreter_hooks/entry/entry.h"
#include "interpreter_hooks/recorder/region/liveness.h"
#include "interpreter_hooks/recorder/region/program_state.h"

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace terra::capture {

class Phis {
 public:
  explicit Phis(Recording& recording) : r_(recording) {}

  /// A branch on a tensor is about to be recorded: chooses what is known to differ here. False: C code of an
  /// instruction that is still open has asked for a truth before, and what it made of that is in no state.
  bool at_branch();
  /// The open instruction has asked for a truth before; once for each branch.
  bool asked_before();
  /// What the state at that branch turned out to be; null: it can't be compared.
  void noted(ProgramState* state);
  /// Of a kind that can be chosen, and not known to be anything that the graph computes.
  bool may_differ(const Value& value) const;
  bool is_chosen(const Value& value) const { return value.has_register() && value_numbers_.count(value.reg); }
  /// The instruction of the entry program at `offset` computes `result` from `in`, of which some are chosen.
  void computed(Register result, int offset, const std::vector<Value>& in);
  /// Something has to be known about the value. True: it is a chosen one, and the recording is over.
  bool refuse(Register reg);
  /// Whether the entry program asks something about chosen values; the recording is over then.
  void finish(Entry& entry);

  /// Whether variable number `local` of the frame can still be asked for.
  bool is_alive(const ShadowFrame& frame, size_t local);
  /// To an attribute of an instance that was there before, of a value that paths may differ in: it can be made in any
  /// order, and once more.
  bool is_plain_store(const Write& write) const;

  /// Of an attribute that is stored to.
  static uint32_t slot(const std::string& path) {
    return 0x80000000u | static_cast<uint32_t>(std::hash<std::string>()(path));
  }
  /// Of a variable in the frame number `frame`, or of an item on its stack.
  static uint32_t slot(size_t frame, size_t variable, bool on_stack) {
    return static_cast<uint32_t>(frame << 16 | (on_stack ? 0x8000 : 0) | variable);
  }

 private:
  uint64_t here() const;
  void choose(Value& value, PhiSlot what);
  void choose_stored(const std::string& path, PhiSlot what);
  Write* store_to(const std::string& path);
  bool store_again(const std::string& path);

  Recording& r_;
  uint64_t place_ = 0;
  long last_ = -1;                                     ///< the event of the last branch
  std::unordered_map<const ShadowFrame*, int> asked_;  ///< the instruction of each frame that asked for a truth last
  bool too_late_ = false;  ///< what follows from the truth is there already: it is none of what the way here has left
  std::unordered_map<PyCodeObject*, Liveness> alive_;
  std::unordered_map<Register, std::set<PhiSlot>> value_numbers_;  ///< of chosen registers: what they follow from
  std::set<int> sums_;                                             ///< offsets of instructions that may read them
  std::vector<Place> places_ = std::vector<Place>(1);              ///< so far; the last one is still to come
};

}  // namespace terra::capture
