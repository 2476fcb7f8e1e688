// A captured entry of a code object: entry program, graph, late program, effect program.
#pragma once
#include "interpreter_hooks/effects/effects.h"
#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/guards/program.h"

#include "graph/cache/compiled.h"

#include <memory>
#include <string>
#include <vector>

namespace terra::capture {

struct Entry {
  RegisterFile file;
  Program entry{kinds};
  Program late{kinds};
  EffectProgram effects;

  /// Null when the frame did no tensor work (stress mode).
  std::shared_ptr<graph::Compiled> graph;
  std::vector<Register> tensors;  ///< tensor inputs in the order of the trace
  std::vector<Register> scalars;  ///< scalar inputs
  std::vector<Register> outputs;  ///< where the outputs of the graph go
  bool late_decides = false;      ///< the late program can fail: it has to run before the commit

  size_t calls = 0;  ///< user-level tensor calls that one run stands for
  long hits = 0;
  long misses = 0;
  std::string last_miss;
};

}  // namespace terra::capture
