// Which facts of a code object have been given up: numbers and sizes of tensors that turned out to change between calls.
#pragma once
#include "interpreter_hooks/guards/tensors.h"

#include <map>
#include <set>
#include <string>

namespace terra::capture {

/// Belongs to a code object and outlives its recordings. Paths are the names of registers ("self.layers[0].count").
class Relaxation {
 public:
  /// Makes the number at `path` an input, and with it all numbers of that name below the same root
  /// ("self", "count"), and all items of the same list. False when it was one already.
  bool relax(const std::string& path);
  bool relaxed(const std::string& path) const;
  /// A place of the program (see TraceBuilder) where a number can't be read in a run: it is structural there.
  void insist(const std::string& place) { constants_.insert(place); }
  bool insisted(const std::string& place) const { return constants_.count(place) != 0; }
  bool insists() const { return !constants_.empty(); }
  bool empty() const { return paths_.empty() && sizes_.empty(); }
  /// Lets more sizes of tensors of that rank at `path` differ between runs, and of their kin. False when they may
  /// already.
  bool free(const std::string& path, size_t rank, FreeSizes more);
  FreeSizes free_sizes(const std::string& path, size_t rank) const;

 private:
  std::set<std::string> paths_;
  std::set<std::string> families_;
  std::set<std::string> constants_;
  std::map<std::pair<std::string, size_t>, FreeSizes> sizes_;  ///< by path, by family
};

}  // namespace terra::capture
