// Fault injection: TERRA_CHAOS=guard=N@K,assert=N@K,p=0.2,seed=n makes guards and asserts fail that hold; op=N@K makes
// node N of a graph refuse its values; interrupt=N@K ends a run after node N as Ctrl-C would; value=N@K makes what a
// verified entry expects wrong; error=N@K breaks the engine: N is 0 while a recording ends, 1 while an entry runs.
// cut=N makes frames be cut after N tensor calls. release=0@K makes every run let other threads go on, however short,
// and every K-th one (0@0: none) be overtaken. spoil=WAY makes what is served by that way wrong (a name of checks.h, or
// backward), forget=1 makes the short way rest on nothing, and memory=BYTES treats tensors from that size on as large
// ones: these break no run, and so are no faults.
#pragma once
#include "interpreter_hooks/entry/checks.h"

#include <cstddef>

namespace terra::capture {

/// What is to go wrong in a run of an entry.
struct Fault {
  int guard = -1;          ///< number of the guard that fails; -1: none
  bool assertion = false;  ///< the graph is refused before it commits
};

/// For the next run of an entry with so many guards, and so many nodes if it has a graph.
Fault next_fault(int guards, size_t nodes);
/// Asked between the nodes of that run: throws Error or returns true where the schedule says so.
bool poll_for_faults();
/// Number of the thing, among `count`, that the next verification is to get wrong; -1 for none.
int next_wrong_value(int count);
/// Whether what `way` serves is to be wrong.
inline constinit int spoiled_way = -1;
inline bool is_spoiled(Way way) { return spoiled_way == static_cast<int>(way); }
/// Whether the short way notes nothing of what it rests on.
inline constinit bool forgets_words = false;
/// Throws InternalError where the schedule says so.
enum class Breakpoint : unsigned char { Finish, Run };
void break_here(Breakpoint place);
inline constinit bool chaos_was_asked_for = false;
/// False as long as TERRA_CHAOS asks for nothing: then next_fault need not be called.
inline bool chaos_is_on() { return chaos_was_asked_for; }
/// Tensor calls before which a frame is not cut. TERRA_CHAOS=cut=N makes frames be cut that would gain nothing by it.
size_t least_calls_of_a_cut();
void read_chaos();

}  // namespace terra::capture
