// Entries of one region that part at branches on tensors, run as one graph with switches.
#pragma once
#include "interpreter_hooks/frame_hook/run_entry.h"

#include "graph/cache/switched.h"

#include <memory>
#include <vector>

namespace terra::capture {

/// Each entry keeps its guards, its late program and its effects; what is merged is the graph. A run needs the guards
/// of the likely path, and those of another one only when the graph goes there.
class MergedEntries {
 public:
  /// Makes `entries`, which were seen to be paths of one region, and the live ones that they are merged with already,
  /// members of new merged paths. False: they can't be.
  /// `only_joined`: unless paths meet again, nothing is done.
  static bool merge(const std::vector<std::shared_ptr<Entry>>& entries, bool only_joined = false);
  /// An entry was made: where it and others of its code come to the same places, however they got there, one graph
  /// serves all ways between these places.
  static bool join(const std::shared_ptr<Entry>& made, const std::vector<std::shared_ptr<Entry>>& entries);

  /// One run, `entry` being the likely path. `entry` becomes the one that the attempt is about. With a verification the
  /// same on copies, as verify_entry does it.
  Attempt run(std::shared_ptr<Entry>& entry, PyObject* const* arguments, PyFunctionObject* function,
              Verification* verification);

  const graph::Switched& graph() const { return *graph_; }
  size_t size() const { return entries_.size(); }
  bool joined() const { return joined_; }

 private:
  std::shared_ptr<Entry> at(uint32_t path) const;
  /// That a run may draw from.
  std::vector<Generator*> generators() const;

  std::vector<std::weak_ptr<Entry>> entries_;  ///< by path
  std::shared_ptr<graph::Switched> graph_;
  bool joined_ = false;
};

}  // namespace terra::capture
