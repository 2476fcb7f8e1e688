// The numbers of values while a trace is being built.
#pragma once
#include "graph/trace/trace.h"

namespace terra::capture {

/// Provisional numbers of inputs are counted from here, those of scalars and constants from the others, those of results
/// from 0.
inline constexpr graph::TraceId first_input = 1u << 30;
inline constexpr graph::TraceId first_scalar = first_input + (1u << 29);
inline constexpr graph::TraceId first_constant = first_scalar + (1u << 28);

/// Calls visit(graph::TraceId&) for every number in a record.
template <class F>
struct EachId {
  F visit;
  void list(std::vector<graph::TraceId>& ids) {
    for (graph::TraceId& id : ids) visit(id);
  }
  void operator()(graph::CallRecord& r) {
    for (auto& arg : r.args) {
      visit(arg.value);
      list(arg.list);
      for (auto& number : arg.integers) visit(number.id);
    }
    list(r.results);
    for (auto& fact : r.facts) visit(fact.same_as);
  }
  void operator()(graph::AssertRecord& r) { visit(r.tensor); }
  void operator()(graph::ItemRecord& r) { visit(r.tensor), visit(r.result); }
  void runs(graph::CallbackRuns& all) {
    for (auto& run : all) {
      list(run->gradients), list(run->results);
      for (auto& record : run->records) std::visit(*this, record.what);
    }
  }
  void operator()(graph::BackwardRecord& r) { list(r.roots), list(r.gradients), list(r.inputs), runs(r.runs); }
  void operator()(graph::GradRecord& r) {
    list(r.roots), list(r.gradients), list(r.inputs), list(r.results), runs(r.runs);
  }
  void operator()(graph::ReadGradRecord& r) { visit(r.tensor), visit(r.result); }
  void operator()(graph::WriteGradRecord& r) { visit(r.tensor), visit(r.value); }
  void operator()(graph::GradModeRecord&) {}
  void operator()(graph::RequiresGradRecord& r) { visit(r.tensor); }
  void operator()(graph::FunctionRecord& r) { list(r.inputs), list(r.outputs); }
  void operator()(graph::HistoryRecord& r) { visit(r.tensor), visit(r.result); }
  void operator()(graph::HookRecord& r) { visit(r.tensor); }
  void operator()(graph::RetainGradRecord& r) { visit(r.tensor); }
  void operator()(graph::SizeRecord& r) { visit(r.tensor), visit(r.result); }
  void operator()(graph::NumberRecord& r) { visit(r.a.id), visit(r.b.id), visit(r.result); }
  void operator()(graph::FactRecord& r) { visit(r.value); }
};

}  // namespace terra::capture
