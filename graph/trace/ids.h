// The numbers in a record, in an order that depends on nothing but the record's form.
#pragma once
#include "graph/trace/trace.h"

namespace terra::graph {

/// Calls visit(TraceId&, bool defines) for every number in a record, kNoValue included. A number is defined by the
/// record that gives it its value; a record that writes a tensor in place uses its number.
template <class F>
class EachId {
 public:
  explicit EachId(F visit) : visit_(visit) {}

  void operator()(TraceRecord& record) { std::visit(*this, record.what); }

  void operator()(CallRecord& r) {
    for (auto& arg : r.args) {
      use(arg.value);
      uses(arg.list);
      for (auto& number : arg.integers) use(number.id);
      use(arg.grown);
    }
    for (TraceId& id : r.results) visit_(id, !r.in_place);
    for (auto& fact : r.facts) use(fact.same_as);
  }
  void operator()(AssertRecord& r) { use(r.tensor); }
  void operator()(ItemRecord& r) { use(r.tensor), define(r.result); }
  void operator()(BackwardRecord& r) { uses(r.roots), uses(r.gradients), uses(r.inputs), runs(r.runs); }
  void operator()(GradRecord& r) {
    uses(r.roots), uses(r.gradients), uses(r.inputs);
    for (TraceId& id : r.results) define(id);
    runs(r.runs);
  }
  void operator()(ReadGradRecord& r) { use(r.tensor), define(r.result); }
  void operator()(WriteGradRecord& r) { use(r.tensor), use(r.value); }
  void operator()(GradModeRecord&) {}
  void operator()(RequiresGradRecord& r) { use(r.tensor); }
  void operator()(FunctionRecord& r) { uses(r.inputs), uses(r.outputs); }
  void operator()(HistoryRecord& r) { use(r.tensor), define(r.result); }
  void operator()(HookRecord& r) { use(r.tensor); }
  void operator()(DataRecord& r) { use(r.tensor), define(r.result); }
  void operator()(RetainGradRecord& r) { use(r.tensor); }
  void operator()(SizeRecord& r) { use(r.tensor), define(r.result); }
  void operator()(NumberRecord& r) { use(r.a.id), use(r.b.id), define(r.result); }
  void operator()(FactRecord& r) { use(r.value); }
  void operator()(LoopRecord& r) {
    LoopBody& body = *r.body;
    for (auto& c : body.carried) use(c.init), define(c.inner);
    for (TraceRecord& record : body.records) (*this)(record);
    for (auto& c : body.carried) use(c.next);
    for (auto& l : body.left) use(l.inner), define(l.outer);
    for (auto& c : body.collected) uses(c.inner), define(c.sequence);
  }
  void operator()(BranchRecord& r) {
    use(r.truth);
    for (auto& way : r.body->ways)
      for (TraceRecord& record : way) (*this)(record);
    for (auto& result : r.body->results) use(result.of[0]), use(result.of[1]), define(result.outer);
  }

 private:
  void use(TraceId& id) { visit_(id, false); }
  void define(TraceId& id) { visit_(id, true); }
  void uses(std::vector<TraceId>& ids) {
    for (TraceId& id : ids) use(id);
  }
  void runs(CallbackRuns& all) {
    for (auto& run : all) {
      for (TraceId& id : run->gradients) define(id);
      for (TraceRecord& record : run->records) (*this)(record);
      uses(run->results);
    }
  }

  F visit_;
};

}  // namespace terra::graph
