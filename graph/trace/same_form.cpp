#include "graph/trace/same_form.h"

#include <algorithm>
#include <type_traits>

#include "engine/ops/op.h"
#include "graph/trace/numbers.h"

namespace terra::graph {
namespace {

bool same(TraceId a, TraceId b) { return (a == kNoValue) == (b == kNoValue); }

bool same(const std::vector<TraceId>& a, const std::vector<TraceId>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](TraceId x, TraceId y) { return same(x, y); });
}

bool same(const TraceNumber& a, const TraceNumber& b) {
  return same(a.id, b.id) && (a.id != kNoValue || bits_of(a.constant) == bits_of(b.constant));
}

bool same(const Arg& a, const Arg& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Arg::Kind::None: return true;
    case Arg::Kind::Scalar: return bits_of(a.scalar()) == bits_of(b.scalar());
    case Arg::Kind::IntList: return std::equal(a.ints().begin(), a.ints().end(), b.ints().begin(), b.ints().end());
    case Arg::Kind::DType: return a.dtype() == b.dtype();
    case Arg::Kind::String: return a.text() == b.text();
    case Arg::Kind::Generator: return a.generator() == b.generator();
    default: return false;
  }
}

bool same(const TraceArg& a, const TraceArg& b) {
  const auto x = a.constant.args(), y = b.constant.args();
  return a.kind == b.kind && same(a.value, b.value) && same(a.list, b.list) && same(a.grown, b.grown) &&
         std::equal(a.integers.begin(), a.integers.end(), b.integers.begin(), b.integers.end(),
                    [](const TraceNumber& m, const TraceNumber& n) { return same(m, n); }) &&
         std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Arg& m, const Arg& n) { return same(m, n); });
}

bool same(const ResultFact& a, const ResultFact& b) {
  return a.dtype == b.dtype && a.rank == b.rank && same(a.same_as, b.same_as);
}

struct SameForm {
  bool operator()(const CallRecord& a, const CallRecord& b) const {
    return a.op == b.op && a.in_place == b.in_place && !(a.in_place && a.op->is(kView)) && same(a.results, b.results) &&
           std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(),
                      [](const TraceArg& m, const TraceArg& n) { return same(m, n); }) &&
           std::equal(a.facts.begin(), a.facts.end(), b.facts.begin(), b.facts.end(),
                      [](const ResultFact& m, const ResultFact& n) { return same(m, n); });
  }
  bool operator()(const AssertRecord& a, const AssertRecord& b) const { return a.expected == b.expected; }
  bool operator()(const ItemRecord& a, const ItemRecord& b) const { return a.kind == b.kind; }
  bool operator()(const BackwardRecord& a, const BackwardRecord& b) const {
    return a.runs.empty() && b.runs.empty() && same(a.roots, b.roots) && same(a.gradients, b.gradients) &&
           same(a.inputs, b.inputs) && a.retain_graph == b.retain_graph && a.create_graph == b.create_graph;
  }
  bool operator()(const GradRecord& a, const GradRecord& b) const {
    return a.runs.empty() && b.runs.empty() && same(a.roots, b.roots) && same(a.gradients, b.gradients) &&
           same(a.inputs, b.inputs) && same(a.results, b.results) && a.retain_graph == b.retain_graph &&
           a.create_graph == b.create_graph && a.allow_unused == b.allow_unused && a.materialize == b.materialize;
  }
  bool operator()(const ReadGradRecord& a, const ReadGradRecord& b) const { return same(a.result, b.result); }
  bool operator()(const WriteGradRecord& a, const WriteGradRecord& b) const { return same(a.value, b.value); }
  bool operator()(const GradModeRecord& a, const GradModeRecord& b) const { return a.modes == b.modes; }
  bool operator()(const SizeRecord& a, const SizeRecord& b) const { return a.dim == b.dim; }
  bool operator()(const NumberRecord& a, const NumberRecord& b) const {
    return a.op == b.op && same(a.a, b.a) && same(a.b, b.b);
  }
  bool operator()(const FactRecord& a, const FactRecord& b) const {
    return a.what == b.what && same(a.value, b.value) && a.expected == b.expected;
  }
  bool operator()(const LoopRecord& a, const LoopRecord& b) const {
    const LoopBody &x = *a.body, &y = *b.body;
    return x.carried.size() == y.carried.size() && x.left.size() == y.left.size() && x.exit == y.exit &&
           std::equal(x.collected.begin(), x.collected.end(), y.collected.begin(), y.collected.end(),
                      [](const auto& m, const auto& n) { return same(m.inner, n.inner); }) &&
           std::equal(x.records.begin(), x.records.end(), y.records.begin(), y.records.end(), same_form);
  }
  bool operator()(const BranchRecord& a, const BranchRecord& b) const {
    const BranchBody &x = *a.body, &y = *b.body;
    const auto same_way = [&](int way) {
      return std::equal(x.ways[way].begin(), x.ways[way].end(), y.ways[way].begin(), y.ways[way].end(), same_form);
    };
    return x.results.size() == y.results.size() && same_way(0) && same_way(1);
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

}  // namespace

bool same_form(const TraceRecord& a, const TraceRecord& b) { return std::visit(SameForm{}, a.what, b.what); }

bool opposite_facts(const TraceRecord& a, const TraceRecord& b) {
  const auto *p = std::get_if<AssertRecord>(&a.what), *q = std::get_if<AssertRecord>(&b.what);
  if (p && q) return p->expected != q->expected;
  const auto *x = std::get_if<FactRecord>(&a.what), *y = std::get_if<FactRecord>(&b.what);
  if (!x || !y || x->what != FactRecord::What::Number || y->what != FactRecord::What::Number) return false;
  const std::vector<int64_t> yes = bits_of(Scalar(true)), no = bits_of(Scalar(false));
  return (x->expected == yes && y->expected == no) || (x->expected == no && y->expected == yes);
}

}  // namespace terra::graph
