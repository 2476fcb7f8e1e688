// What a recording knows about the program at one moment, up to the numbers of the values that it holds: when two
// moments at the same instruction are alike, what the program does from the one on it also does from the other on.
#pragma once
#include "graph/trace/roll.h"
#include "interpreter_hooks/recorder/core/recording.h"

#include <set>
#include <string>
#include <vector>

namespace terra::capture {

struct ProgramState {
  std::vector<uint64_t> words;
  std::vector<graph::TraceId> values;  ///< tensors and numbers in the order in which they are met, each once
  struct List {
    graph::TraceId number;
    PyObject* object;  // held by the recording
    size_t items;
  };
  /// Lists of which nothing was asked since the loop began: what they hold decides nothing, and isn't among the words.
  std::vector<List> lists;
  bool readable = true;  ///< everything that is alive is of a kind that can be compared
  // Of states that are compared with those of other recordings:
  uint64_t form = 0;              ///< a hash of the words, values of variables that may differ left out
  bool formed = true;             ///< everything else is of a kind that can be compared
  std::vector<Place::Held> held;  ///< those values
  bool forgets = false;           ///< variables that nobody will ask for are left out
  std::vector<Register> chosen;   ///< chosen values in the order in which they are met, each once

  bool like(const ProgramState& other) const { return readable && other.readable && words == other.words; }
};

/// Reads frames, cells and the objects that the frame made or changed; `since` is when the loop began (Shadow::asked).
class ProgramStateReader {
 public:
  ProgramStateReader(Recording& recording, long since) : r_(recording), since_(since) {}
  ProgramState read();
  /// Of variables, only those that can still be asked for. `open`: between the two halves of an instruction, which
  /// counts as one at offset `as` where that isn't -1.
  ProgramState read_alive(bool open, int as = -1);
  /// In words that another recording of the code can be compared with: what comes from outside goes by how it was
  /// reached. The entry that is being made keeps the facts alive that go by their address.
  ProgramState read_to_last();

 private:
  void word(uint64_t word) {
    state_.words.push_back(word);
    if (!in_variable_) form(word);
  }
  void form(uint64_t word) { state_.form = (state_.form ^ word) * 0x9E3779B97F4A7C15 + (state_.form >> 29) + 1; }
  void unreadable() {
    state_.readable = false;
    if (!in_variable_) state_.formed = false;
  }
  void word(const void* pointer) { word(reinterpret_cast<uintptr_t>(pointer)); }
  void address(PyObject* object);
  void from_outside(const Shadow& shadow);
  void came_from(const Value& value);
  void value(const Value& value);
  void values(const std::vector<Value>& all);
  void variables(const ShadowFrame& frame, size_t index);
  void variable(const Value& value, uint32_t slot, const std::string& path = {}, bool always = true);
  void writes();
  void chosen(const Value& value);
  void atom(PyObject* object, int depth);
  void number(const Value& value);
  void numbered(graph::TraceId id);
  void object(PyObject* object);
  void tensor(const Shadow& shadow);
  void contents(const Shadow& shadow);
  void frame(const ShadowFrame& frame, size_t index);

  Recording& r_;
  const long since_;
  bool lasts_ = false, forgets_ = false, open_ = false;
  int as_ = -1;
  bool in_variable_ = false;  ///< that may hold different values on different paths
  ProgramState state_;
  std::unordered_map<graph::TraceId, size_t> numbers_;
  std::unordered_map<PyObject*, size_t> objects_;
  std::unordered_map<Register, size_t> chosen_, sums_;
  std::set<PyObject*> changed_;  ///< objects from outside whose state follows from the writes
};

}  // namespace terra::capture
