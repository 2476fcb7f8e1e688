// Which facts of a code object have been given up: numbers and sizes of tensors that turned out to change between
// calls.
#pragma once
#include "interpreter_hooks/guards/tensors.h"

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace terra::capture {

/// A variable at a place of the program whose value follows from the way that a run came there (phis.h).
struct PhiSlot {
  uint64_t place;
  uint32_t slot;
  auto operator<=>(const PhiSlot&) const = default;
};

/// Belongs to a code object and outlives its recordings. MergedEntries are the names of registers
/// ("self.layers[0].count").
class Speculation {
 public:
  /// Makes the number at `path` an input, and with it all numbers of that name below the same root
  /// ("self", "count"), and all items of the same list. False when it was one already.
  bool relax(const std::string& path);
  bool relaxed(const std::string& path) const;
  /// A recording has found this number (an int or float) at `path`. True: it is an input from now on, since an earlier
  /// recording, whatever became of it, has found another one there.
  bool met(const std::string& path, PyObject* number);
  /// A recording has found a list of that length at `path`, all of whose items it needs. False: it has had so many
  /// lengths that another recording would not be the last one.
  bool may_fix_length(const std::string& path, size_t length);
  /// A place of the program (see TraceBuilder) where a number can't be read in a run: it is structural there.
  void insist(const std::string& place) { constants_.insert(place); }
  bool insisted(const std::string& place) const { return constants_.count(place) != 0; }
  bool insists() const { return !constants_.empty(); }
  /// A loop whose rounds can't be put together (loops.h): what counts them is a fact.
  void fix_loop(const std::string& place) { fixed_loops_.insert(place); }
  bool loop_is_fixed(const std::string& place) const { return fixed_loops_.count(place) != 0; }
  /// A loop in whose rounds a number that differs between calls decides something: its rounds may vary, whatever it
  /// walks over.
  void leave_loop(const std::string& place) { left_loops_.insert(place); }
  bool loop_is_left(const std::string& place) const { return left_loops_.count(place) != 0; }
  /// What becomes of an autograd.Function that the frame applies.
  enum class Functions : uint8_t {
    Inside,   ///< passes in the frame call its backward; nothing else does
    Outlive,  ///< gradients are computed after the frame has returned: its node is made behind the graph
    Last,     ///< the same, and nothing inside may use its results: no graph goes on behind it
  };
  void relax_functions() { functions_ = functions_ == Functions::Inside ? Functions::Outlive : Functions::Last; }
  Functions functions() const { return functions_; }
  /// A loop that no graph can run, though a tensor's value ends it: each number of its rounds is a path of its own.
  void unroll_loop(const std::string& place) { unrolled_loops_.insert(place); }
  bool loop_is_unrolled(const std::string& place) const { return unrolled_loops_.count(place) != 0; }
  /// A loop whose rounds no graph can run as one where they go different ways.
  void split_loop(const std::string& place) { split_loops_.insert(place); }
  bool loop_is_split(const std::string& place) const { return split_loops_.count(place) != 0; }
  /// MergedEntries that come to the same place have left different values there. False when that can't be, or was
  /// known. `path` is that of an attribute that some of them have stored, and empty for variables.
  bool choose(const PhiSlot& what, const std::string& path) {
    return chosen_.size() < most_choices && !settled_.count(what) && chosen_.try_emplace(what, path).second;
  }
  bool is_chosen(const PhiSlot& what) const { return chosen_.count(what) != 0; }
  /// With their paths.
  const std::map<PhiSlot, std::string>& chosen() const { return chosen_; }
  /// Something has to be known about it: paths that leave different values there stay apart.
  void settle(const PhiSlot& what) { chosen_.erase(what), settled_.insert(what); }
  /// A run found that a tensor's value decides something another way than before: perhaps that a loop comes round
  /// again.
  void part_ways() { parted_ = true; }
  bool parts_ways() const { return parted_; }
  /// Nothing is known to differ between calls.
  bool empty() const { return paths_.empty() && sizes_.empty() && !parted_; }
  /// Lets more sizes of tensors of that rank at `path` differ between runs, and of their kin. False when they may
  /// already.
  bool free(const std::string& path, size_t rank, FreeSizes more);
  FreeSizes free_sizes(const std::string& path, size_t rank) const;

 private:
  std::set<std::string> paths_;
  std::map<std::string, std::pair<PyTypeObject*, uint64_t>> met_;  ///< type and bits of numbers
  static constexpr size_t most_lengths = 4;
  std::map<std::string, std::set<size_t>> lengths_;
  std::set<std::string> families_;
  std::set<std::string> constants_;
  std::set<std::string> fixed_loops_, left_loops_, unrolled_loops_, split_loops_;
  static constexpr size_t most_choices = 64;
  std::map<PhiSlot, std::string> chosen_;
  std::set<PhiSlot> settled_;
  bool parted_ = false;
  Functions functions_ = Functions::Inside;
  std::map<std::pair<std::string, size_t>, FreeSizes> sizes_;  ///< by path, by family
};

}  // namespace terra::capture
