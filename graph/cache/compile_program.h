// Programs made runnable that no trace is known of any more.
#pragma once
#include "graph/cache/compiled.h"
#include "graph/trace/program.h"

namespace terra::graph {

/// compile(trace) for the program that was built from a trace. Its results have no history.
std::shared_ptr<Compiled> compile(Program program);

/// For tests: is shown each program that will be run, and throws where it finds fault. Null: nobody looks.
void (*&program_check())(const Program& program);

}  // namespace terra::graph
