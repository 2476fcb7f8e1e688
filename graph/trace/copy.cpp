#include "graph/trace/copy.h"

#include <type_traits>

namespace terra::graph {
namespace {

CallRecord copy_call(const CallRecord& from) {
  CallRecord to;
  to.op = from.op;
  to.in_place = from.in_place;
  to.results = from.results;
  to.facts = from.facts;
  to.constructs = from.constructs;
  for (const TraceArg& a : from.args)
    to.args.push_back({a.kind, a.value, a.list, OwnedArgs(a.constant.args()), a.integers, a.grown});
  return to;
}

LoopRecord copy_loop(const LoopRecord& from) {
  auto body = std::make_shared<LoopBody>();
  body->carried = from.body->carried;
  body->exit = from.body->exit;
  body->left = from.body->left;
  body->collected = from.body->collected;
  for (const TraceRecord& r : from.body->records) body->records.push_back(copy_of(r));
  return {std::move(body)};
}

BranchRecord copy_branch(const BranchRecord& from) {
  auto body = std::make_shared<BranchBody>();
  body->results = from.body->results;
  for (int way : {0, 1})
    for (const TraceRecord& r : from.body->ways[way]) body->ways[way].push_back(copy_of(r));
  return {from.truth, std::move(body)};
}

}  // namespace

TraceRecord copy_of(const TraceRecord& r) {
  TraceRecord copy;
  copy.file = r.file;
  copy.line = r.line;
  std::visit(
      [&](const auto& what) {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, CallRecord>)
          copy.what = copy_call(what);
        else if constexpr (std::is_same_v<T, LoopRecord>)
          copy.what = copy_loop(what);
        else if constexpr (std::is_same_v<T, BranchRecord>)
          copy.what = copy_branch(what);
        else
          copy.what = what;
      },
      r.what);
  return copy;
}

Trace copy_of(const Trace& trace) {
  Trace to;
  to.name = trace.name;
  to.inputs = trace.inputs;
  to.constants = trace.constants;
  to.outputs = trace.outputs;
  to.modes = trace.modes;
  to.values = trace.values;
  to.marks = trace.marks;
  for (const TraceRecord& r : trace.records) to.records.push_back(copy_of(r));
  return to;
}

}  // namespace terra::graph
