// A captured entry of a code object: entry program, graph, late program, effect program.
#pragma once
#include "interpreter_hooks/effects/effects.h"
#include "interpreter_hooks/entry/checks.h"
#include "interpreter_hooks/entry/reasons.h"
#include "interpreter_hooks/entry/speculation.h"
#include "interpreter_hooks/guards/guard_memo.h"
#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/guards/program.h"

#include "engine/memory/spare.h"
#include "graph/cache/compiled.h"
#include "graph/cache/switched.h"
#include "recursive/deferral/deferred_graph.h"

#include <memory>
#include <string>
#include <vector>

namespace terra::capture {

class MergedEntries;  // frame_hook/merged_entries.h

/// A place where the recorded run depended on the value of a tensor: an assert of the graph, a guard of the late
/// program on a number that was taken from a tensor, or a loop of the graph, which goes on until such a value ends it.
struct Branch {
  bool late = false;
  bool loop = false;
  bool expected = false;  ///< of an assert
  uint32_t at = 0;        ///< number of the assert; offset in the late program
};

/// A branch on a tensor, and what the program held there besides tensors (phis.h).
struct Place {
  /// The value of a variable that isn't chosen by the way yet; 0: one that is like no other.
  struct Held {
    uint32_t slot;
    uint64_t value;
    std::string path;  ///< of an attribute that the way here has stored
  };
  uint64_t at = 0;    ///< where in the program
  uint64_t form = 0;  ///< paths with this one hold the same, but for `held`; 0: nothing can be said
  std::vector<Held> held;
  std::vector<Register> chosen;  ///< what the way here has chosen, in an order that the place determines
  bool forgets = false;          ///< variables that nobody will ask for are left out
  std::vector<int> sums;         ///< instructions of the entry program since the branch before that compute such values
};

/// An entry that stands for the first part of the frame: where CPython goes on, and with what.
struct Cut {
  int instruction = 0;  ///< code units
  int depth = 0;        ///< items on the value stack
  int line = 0;
  std::vector<int>
      places;  ///< index in localsplus of each result of the effect program; the other slots stay as they are
  Stop why;    ///< what follows and could not be recorded
};

/// What a run hands to its graph and gets back.
struct RunBuffers {
  graph::PathInputs inputs;
  std::vector<graph::RunOutput> outputs;

  void clear() {
    inputs.tensors.clear();
    inputs.scalars.clear();
    outputs.clear();
  }
};

struct Entry {
  RegisterFile file;
  Program entry{kinds};
  Program late{kinds};
  GuardMemo guard_memo;  ///< the short way through the entry program
  EffectProgram effects;

  /// Null when the frame did no tensor work (stress mode).
  std::shared_ptr<graph::Compiled> graph;
  std::vector<Register> tensors;  ///< tensor inputs in the order of the trace
  std::vector<Register> scalars;  ///< scalar inputs
  std::vector<Register> outputs;  ///< where the outputs of the graph go
  bool late_decides = false;      ///< the late program can fail: it has to run before the commit

  /// In program order. Recording is deterministic under the guards: where the guards of two entries hold and their
  /// branches went alike up to number i, both decide the same condition at i.
  std::vector<Branch> branches;
  /// Of each register: whether it is read once the entry program has held, by anything but the graph.
  std::vector<bool> read_later() const;
  /// Index among the branches, or -1.
  int branch_of_assert(uint32_t number) const;
  int branch_of_late_guard(int offset) const;
  std::vector<Place> places;  ///< by assert, and one for the end; none where loops have become records
  /// Its path may meet others behind a branch. Not where its late program, which a run needs only at its end, decides
  /// something about other parts; nor where the rest of a cut frame could ask for variables that meeting forgets.
  bool can_meet() const;
  std::unique_ptr<Cut> cut;  ///< null: the entry stands for the whole frame

  /// What the graph was made of, where it has asserts, for merging; shared by nobody else.
  std::shared_ptr<const graph::Trace> trace;
  /// Its runs, where they may be put off (frame_hook/deferral.h); null where that was never asked.
  std::unique_ptr<recursive::DeferredGraphs> deferred;
  /// The merged paths of its region that this entry is one of, or null, and its number there.
  std::shared_ptr<MergedEntries> paths;
  uint32_t path = 0;
  bool direct = true;  ///< its runs seldom end before the commit
  /// It may serve calls that have no frame, without what is made of several entries.
  bool takes_direct_calls() const { return direct && !cut && !paths; }
  bool merges = true;  ///< it may be merged with others, and no attempt has failed

  Spare<RunBuffers> spare;

  int depth = 1;          ///< how far below its caller the program went: frames and calls that C code makes
  bool computes = false;  ///< something other than views and sizes of tensors
  size_t calls = 0;       ///< user-level tensor calls that one run stands for
  long hits = 0;
  Checks checks;
  long misses = 0;
  std::string last_miss;
};

/// A run of `failed`, whose guards held, found that its branch number `branch` goes another way now. False when it has
/// thereby shown that `entry`, should its guards hold, would fail too.
bool may_follow(const Entry& entry, const Entry& failed, size_t branch);
/// A number that is an input by now is a fact in this entry.
bool relies_on(const Entry& entry, const Speculation& speculation);

}  // namespace terra::capture
