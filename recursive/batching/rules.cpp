#include "recursive/batching/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "recursive/batching/batched_call.h"
#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {
namespace {

using graph::IntList;
using graph::NodeArg;

/// Element by element: operands of fewer dimensions get ones behind the rows.
void elementwise(BatchedCall& c) {
  size_t rank = 0;
  std::vector<Arg> deciding;
  for (const BatchedArg& a : c.args) {
    const auto* x = std::get_if<Batched>(&a);
    if (!x) continue;
    rank = std::max(rank, x->rank());
    if (!x->number) deciding.push_back(Arg(x->tensor));
  }
  for (size_t i = 0; i < c.args.size(); ++i) {
    auto* x = std::get_if<Batched>(&c.args[i]);
    if (!x) continue;
    x->tensor = aligned(*x, rank);
    if (!x->number) continue;
    const ParamType type = c.op.sig().params[i].type;
    if (type != ParamType::TensorOrNumber && type != ParamType::Tensor)
      c.refuse(fmt::format("takes no number as '{}' that differs from call to call", c.op.sig().params[i].name));
    // A Python number takes part in promotion by its category only.
    std::vector<Arg> operands = deciding;
    const Scalar example = is_inexact(x->tensor.dtype()) ? Scalar(1.0) : Scalar(int64_t{1});
    operands.push_back(Arg(example));
    x->tensor = run("to_dtype", x->tensor, result_type(operands));
  }
  c.emit();
}

/// Over all dimensions where none is named.
void reduction(BatchedCall& c) {
  for (size_t i = 1; i < c.args.size(); ++i)
    if (c.tensor(i)) c.refuse("has more than one operand");
  const Batched x = c.at(0);
  const int dim = c.op.sig().find("dim"), keep = c.op.sig().find("keepdim");
  if (dim < 0) c.refuse("reduces in a way of its own");
  const auto at = static_cast<size_t>(dim);
  NodeArg& dims = std::get<NodeArg>(c.args[at]);
  const auto* list = std::get_if<IntList>(&dims);
  if (x.rank() > 0 && !c.is_none(at) && !(list && list->empty())) {
    shift_dims(c, x.rank());
    return c.emit();
  }
  const bool keeps = keep >= 0 && c.number(static_cast<size_t>(keep)).to_bool();
  if (keeps) c.args[static_cast<size_t>(keep)] = NodeArg(Scalar(false));
  c.set(0, run("reshape", x.tensor, Dims{c.rows, -1}));
  if (c.op.sig().params[at].type == ParamType::Int)
    dims = Scalar(int64_t{1});
  else
    dims = IntList{1};
  c.emit();
  if (!keeps) return;
  for (Batched& r : c.results) r.tensor = run("reshape", r.tensor, with_rows(c.rows, Dims(x.rank(), 1)));
}

/// What is copied gets the place of each call's own.
void copied(BatchedCall& c) {
  c.set(0, for_each_row(c.at(0), c.rows));
  elementwise(c);
}

/// A tensor filled with a number of each call's own.
void filled(BatchedCall& c) {
  const Batched value = c.at(1);
  const IntList& sizes = c.list(0);
  const auto* dtype = c.is_none(2) ? nullptr : std::get_if<DType>(c.attribute(2));
  if (!dtype) c.refuse("is filled with a number of each call's own, and says no dtype");
  const Tensor number = run("to_dtype", value.tensor, *dtype);
  c.give(run("expand", aligned({number, true}, sizes.size()), with_rows(c.rows, sizes)));
}

Rule rule_of(const Op& op) {
  static const std::map<std::string_view, Rule> rules = [] {
    std::map<std::string_view, Rule> all = {
        {"copy", copied},         {"clone", as_it_is},         {"full", filled},
        {"softmax", along_dims},  {"log_softmax", along_dims}, {"cat", along_dims},
        {"flip", along_dims},     {"cumsum", along_dims},      {"cumprod", along_dims},
        {"sort", along_dims},     {"topk", along_dims},        {"logcumsumexp", along_dims},
        {"layer_norm", as_it_is}, {"constant_pad", as_it_is},  {"tril", as_it_is},
        {"triu", as_it_is},       {"fft_c2c", along_dims},     {"fft_r2c", along_dims},
        {"fft_c2r", along_dims},
    };
    for (const auto& more : {view_rules(), product_rules(), look_up_rules(), image_rules(), gradient_rules()})
      for (const NamedRule& r : more) all.emplace(r.op, r.rule);
    return all;
  }();
  const auto named = rules.find(op.name);
  if (named != rules.end()) return named->second;
  if (op.is(kElementwise)) return elementwise;
  if (op.is(kReduction)) return reduction;
  return nullptr;
}

bool any_rows(const std::vector<BatchedArg>& args) {
  for (const BatchedArg& a : args) {
    if (const auto* x = std::get_if<Batched>(&a); x && x->rows) return true;
    if (const auto* list = std::get_if<std::vector<Batched>>(&a))
      if (std::any_of(list->begin(), list->end(), [](const Batched& x) { return x.rows; })) return true;
  }
  return false;
}

}  // namespace

std::vector<Batched> call_batched(const Op& op, const std::vector<BatchedArg>& args, int64_t rows) {
  BatchedCall c{op, args, rows, {}};
  if (op.is(kRandom)) c.refuse("draws random numbers, whose order is that of the calls");
  if (op.writes) c.refuse("writes to its operands");
  if (!any_rows(args)) {
    c.emit();
    for (Batched& r : c.results) r.rows = false;
    return std::move(c.results);
  }
  const Rule rule = rule_of(op);
  if (!rule) c.refuse("has no rule for many calls at once");
  rule(c);
  return std::move(c.results);
}

Batched write_batched(const Op& view, const Batched& base, const Batched& value, std::vector<BatchedArg> args,
                      int64_t rows) {
  const bool has_rows = base.rows || value.rows || any_rows(args);
  const Batched copy{run("clone", has_rows ? for_each_row(base, rows) : base.tensor, "contiguous_format"), has_rows};
  args.insert(args.begin(), copy);
  const Batched shown = call_batched(view, args, rows)[0];
  find_op("copy")->in_place(shown.tensor, aligned(value, shown.rank()));
  return copy;
}

std::vector<BatchedArg> batched_args(const graph::Node& n, size_t first, const OperandOf& operand) {
  std::vector<BatchedArg> args;
  for (size_t a = first; a < n.args.size(); ++a) {
    if (const auto* use = std::get_if<graph::Use>(&n.args[a])) {
      args.push_back(operand(use->id));
    } else if (const auto* list = std::get_if<graph::UseList>(&n.args[a])) {
      std::vector<Batched> all;
      for (ValueId id : *list) all.push_back(id == graph::kNoId ? Batched() : operand(id));
      args.push_back(std::move(all));
    } else {
      args.push_back(n.args[a]);
    }
  }
  return args;
}

std::vector<Batched> play_batched(const graph::Graph& body, const graph::Node& n, const OperandOf& operand,
                                  int64_t rows) {
  switch (n.kind) {
    case graph::NodeKind::Op: return call_batched(*n.op, batched_args(n, 0, operand), rows);
    case graph::NodeKind::WriteView:
      return {write_batched(*n.op, operand(graph::operand(n, 0)), operand(graph::operand(n, 1)),
                            batched_args(n, 2, operand), std::max<int64_t>(rows, 1))};
    case graph::NodeKind::AsTensor: {
      Batched fed = operand(graph::operand(n, 0));
      fed.number = false;
      const graph::ValueMeta& meta = body.meta(n.results[0]);
      if (fed.tensor.dtype() != meta.dtype) fed.tensor = run("to_dtype", fed.tensor, meta.dtype);
      return {fed};
    }
    default: throw Unbatchable{"a graph that calls itself asserts, loops or keeps records"};
  }
}

}  // namespace terra::recursive
