// Which facts of a code object have been given up: numbers that turned out to change between calls.
#pragma once
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
  /// A place of the program (see TraceBuilder) where a number can't be an input: it is a constant there.
  void insist(const std::string& place) { constants_.insert(place); }
  bool insisted(const std::string& place) const { return constants_.count(place) != 0; }
  bool insists() const { return !constants_.empty(); }
  bool empty() const { return paths_.empty(); }

 private:
  std::set<std::string> paths_;
  std::set<std::string> families_;
  std::set<std::string> constants_;
};

}  // namespace terra::capture
