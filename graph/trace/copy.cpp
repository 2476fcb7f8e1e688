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
  for (const TraceArg& a : from.args)
    to.args.push_back({a.kind, a.value, a.list, OwnedArgs(a.constant.args()), a.integers, a.grown});
  return to;
}

}  // namespace

Trace copy_of(const Trace& trace) {
  Trace to;
  to.name = trace.name;
  to.inputs = trace.inputs;
  to.constants = trace.constants;
  to.outputs = trace.outputs;
  to.grad_enabled = trace.grad_enabled;
  to.values = trace.values;
  to.marks = trace.marks;
  for (const TraceRecord& r : trace.records) {
    TraceRecord copy;
    copy.file = r.file;
    copy.line = r.line;
    std::visit(
        [&](const auto& what) {
          using T = std::decay_t<decltype(what)>;
          if constexpr (std::is_same_v<T, CallRecord>)
            copy.what = copy_call(what);
          else
            copy.what = what;
        },
        r.what);
    to.records.push_back(std::move(copy));
  }
  return to;
}

}  // namespace terra::graph
