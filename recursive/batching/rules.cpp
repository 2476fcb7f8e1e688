#include "recursive/batching/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "engine/ops/call.h"
#include "graph/ir/arg_list.h"
#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {
namespace {

using graph::IntList;
using graph::NodeArg;

template <class... A>
Tensor run(std::string_view op, A&&... args) {
  return (*find_op(op))(std::forward<A>(args)...);
}

Dims with_rows(int64_t rows, std::span<const int64_t> sizes) {
  Dims all{rows};
  for (int64_t s : sizes) all.push_back(s);
  return all;
}

/// The sizes of one call.
Dims sizes_of(const Batched& x) {
  Dims sizes = x.tensor.sizes();
  if (x.rows) sizes.erase(0);
  return sizes;
}

/// So that operands of `rank` dimensions a call broadcast against each other: rows first, then ones.
Tensor aligned(const Batched& x, size_t rank) {
  if (!x.rows || x.rank() == rank) return x.tensor;
  Dims sizes = sizes_of(x);
  while (sizes.size() < rank) sizes.insert(0, 1);
  return run("reshape", x.tensor, with_rows(x.tensor.size(0), sizes));
}

/// Also what all calls share is there for each of them.
Tensor for_each_row(const Batched& x, int64_t rows) {
  return x.rows ? x.tensor : run("expand", x.tensor, with_rows(rows, x.tensor.sizes()));
}

/// One call of an op, in the hands of its rule.
struct BatchedCall {
  const Op& op;
  std::vector<BatchedArg> args;
  int64_t rows;
  std::vector<Batched> results;

  [[noreturn]] void refuse(std::string_view why) const { throw Unbatchable{fmt::format("'{}' {}", op.name, why)}; }

  const Batched* tensor(size_t i) const { return i < args.size() ? std::get_if<Batched>(&args[i]) : nullptr; }
  const Batched& at(size_t i) const {
    if (const Batched* x = tensor(i)) return *x;
    refuse("lacks an operand");
  }
  const NodeArg* attribute(size_t i) const { return i < args.size() ? std::get_if<NodeArg>(&args[i]) : nullptr; }
  bool is_none(size_t i) const {
    if (i >= args.size()) return true;
    const NodeArg* a = attribute(i);
    return a && std::holds_alternative<std::monostate>(*a);
  }
  bool is_rows(size_t i) const { return tensor(i) && tensor(i)->rows; }
  int64_t integer(size_t i) const { return std::get<Scalar>(std::get<NodeArg>(args[i])).to_int(); }
  IntList& list(size_t i) { return std::get<IntList>(std::get<NodeArg>(args[i])); }
  std::string_view text(size_t i) const { return std::get<std::string>(std::get<NodeArg>(args[i])); }
  void set(size_t i, Tensor t) { args[i] = Batched{std::move(t), true}; }

  /// The op on the operands as they are now; tensors that all calls share stay as they are.
  void emit() {
    std::vector<NodeArg> given;
    std::vector<Tensor> tensors;
    const auto use = [&](const Batched& b) {
      tensors.push_back(b.tensor);
      return static_cast<graph::ValueId>(tensors.size() - 1);
    };
    for (const BatchedArg& a : args) {
      if (const auto* attribute = std::get_if<NodeArg>(&a)) {
        given.push_back(*attribute);
      } else if (const auto* one = std::get_if<Batched>(&a)) {
        given.push_back(graph::Use{use(*one)});
      } else {
        graph::UseList list;
        for (const Batched& b : std::get<std::vector<Batched>>(a)) list.push_back(use(b));
        given.push_back(std::move(list));
      }
    }
    const graph::ArgList list(given, [&](graph::ValueId k) { return tensors[k]; });
    std::vector<Tensor> made;
    call(op, list.args(), made);
    for (Tensor& t : made) results.push_back({std::move(t), true});
  }
  void give(Tensor result) { results.push_back({std::move(result), true}); }
};

using Rule = void (*)(BatchedCall&);

// ---- by kind of op ------------------------------------------------------------------------------------------------

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

bool names_dim(const Param& p) {
  static constexpr std::string_view names[] = {"dim", "dims", "dim0", "dim1", "dim2", "dimension"};
  return (p.type == ParamType::Int || p.type == ParamType::IntList) &&
         std::find(std::begin(names), std::end(names), p.name) != std::end(names);
}

/// Every dimension that an argument names is one further; negative ones count from the end as before.
void shift_dims(BatchedCall& c, size_t rank) {
  const auto shifted = [&](int64_t dim) { return dim < 0 ? dim + static_cast<int64_t>(rank) + 1 : dim + 1; };
  for (size_t i = 0; i < c.args.size(); ++i) {
    auto* a = std::get_if<NodeArg>(&c.args[i]);
    if (!a || !names_dim(c.op.sig().params[i])) continue;
    if (auto* s = std::get_if<Scalar>(a)) *s = Scalar(shifted(s->to_int()));
    if (auto* l = std::get_if<IntList>(a)) std::transform(l->begin(), l->end(), l->begin(), shifted);
  }
}

/// What happens along dimensions that arguments name happens along the same ones of each row.
void along_dims(BatchedCall& c) {
  size_t rank = 0;
  for (BatchedArg& a : c.args) {
    if (auto* list = std::get_if<std::vector<Batched>>(&a)) {
      for (Batched& x : *list) {
        rank = x.rank();
        x = {for_each_row(x, c.rows), true};
      }
    } else if (auto* x = std::get_if<Batched>(&a)) {
      if (&a == &c.args[0]) rank = x->rank();
      *x = {for_each_row(*x, c.rows), true};
    }
  }
  if (rank == 0) c.refuse("has no dimension to go along");
  shift_dims(c, rank);
  c.emit();
}

/// As `along_dims`, of the first operand only: others (an index, the weight of a norm) are the same for all calls.
void along_dims_of_first(BatchedCall& c) {
  for (size_t i = 1; i < c.args.size(); ++i)
    if (c.is_rows(i)) c.refuse(fmt::format("has a '{}' of its own in each call", c.op.sig().params[i].name));
  shift_dims(c, c.at(0).rank());
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
  if (keep >= 0 && std::get<Scalar>(std::get<NodeArg>(c.args[static_cast<size_t>(keep)])).to_bool() && x.rank() > 0)
    c.refuse("keeps all dimensions that it reduces");
  c.set(0, run("reshape", x.tensor, Dims{c.rows, -1}));
  if (c.op.sig().params[at].type == ParamType::Int)
    dims = Scalar(int64_t{1});
  else
    dims = IntList{1};
  c.emit();
}

/// The op takes any leading dimensions.
void as_it_is(BatchedCall& c) {
  for (size_t i = 1; i < c.args.size(); ++i)
    if (c.is_rows(i)) c.refuse(fmt::format("has a '{}' of its own in each call", c.op.sig().params[i].name));
  c.emit();
}

// ---- views --------------------------------------------------------------------------------------------------------

void sized(BatchedCall& c) {
  IntList& sizes = c.list(1);
  for (int64_t& s : sizes)
    if (s == -1) {
      int64_t known = 1;
      for (int64_t k : sizes) known *= k == -1 ? 1 : k;
      s = known == 0 ? 0 : c.at(0).tensor.numel() / c.rows / known;
    }
  sizes.insert(sizes.begin(), c.rows);
  c.give(run("reshape", c.at(0).tensor, sizes));
}

void expanded(BatchedCall& c) {
  IntList& sizes = c.list(1);
  const Tensor x = aligned(c.at(0), sizes.size());
  sizes.insert(sizes.begin(), c.rows);
  c.give(run("expand", x, sizes));
}

void permuted(BatchedCall& c) {
  shift_dims(c, c.at(0).rank());
  c.list(1).insert(c.list(1).begin(), 0);
  c.emit();
}

void turned(BatchedCall& c) {
  const Batched& x = c.at(0);
  c.give(x.rank() < 2 ? x.tensor : run("transpose", x.tensor, 1, 2));
}

void unsqueezed(BatchedCall& c) {
  shift_dims(c, c.at(0).rank() + 1);
  c.emit();
}

void squeezed(BatchedCall& c) {
  Dims sizes = sizes_of(c.at(0));
  IntList left;
  const auto rank = static_cast<int64_t>(sizes.size());
  for (int64_t d = 0; d < rank; ++d) {
    bool named = c.is_none(1);
    if (!named)
      for (int64_t k : c.list(1)) named |= k == d || k + rank == d;
    if (!named || sizes[d] != 1) left.push_back(sizes[d]);
  }
  left.insert(left.begin(), c.rows);
  c.give(run("reshape", c.at(0).tensor, left));
}

// ---- products -----------------------------------------------------------------------------------------------------

/// Matrices below each other are one matrix.
Tensor stacked(const Batched& x) { return run("reshape", x.tensor, Dims{-1, x.size(x.rank() - 1)}); }

Tensor product(const Batched& a, const Batched& b, int64_t rows) {
  if (!b.rows) return run("reshape", run("mm", stacked(a), b.tensor), Dims{rows, a.size(0), b.size(1)});
  return run("bmm", for_each_row(a, rows), b.tensor);
}

void mm(BatchedCall& c) { c.give(product(c.at(0), c.at(1), c.rows)); }

void bmm(BatchedCall& c) {
  const Tensor a = for_each_row(c.at(0), c.rows), b = for_each_row(c.at(1), c.rows);
  const int64_t count = a.size(1), n = a.size(2), m = b.size(3);
  const Tensor made = run("bmm", run("reshape", a, Dims{c.rows * count, n, a.size(3)}),
                          run("reshape", b, Dims{c.rows * count, b.size(2), m}));
  c.give(run("reshape", made, Dims{c.rows, count, n, m}));
}

void addmm(BatchedCall& c) {
  const Batched &bias = c.at(0), &a = c.at(1), &b = c.at(2);
  const NodeArg *beta = c.attribute(3), *alpha = c.attribute(4);
  if (!beta || !alpha) c.refuse("has factors of its own in each call");
  const Scalar by = std::get<Scalar>(*beta), times = std::get<Scalar>(*alpha);
  if (!bias.rows && !b.rows && bias.rank() < 2)
    return c.give(
        run("reshape", run("addmm", bias.tensor, stacked(a), b.tensor, by, times), Dims{c.rows, a.size(0), b.size(1)}));
  const Tensor made = run("mul", product(a, b, c.rows), times);
  c.give(run("add", made, run("mul", aligned(bias, 2), by)));
}

void linear(BatchedCall& c) {
  if (c.is_rows(1) || c.is_rows(2)) c.refuse("has weights of its own in each call");
  c.emit();
}

// ---- look-ups and losses ------------------------------------------------------------------------------------------

void embedding(BatchedCall& c) {
  if (c.is_rows(0)) c.refuse("has a table of its own in each call");
  c.emit();
}

/// Rows of a table that all calls share: one index for all.
void index_select(BatchedCall& c) {
  const Batched x = c.at(0), index = c.at(2);
  if (!index.rows) return along_dims_of_first(c);
  const auto rank = static_cast<int64_t>(x.rank());
  if (x.rows || rank == 0 || (c.integer(1) + rank) % rank != 0)
    c.refuse("picks along another dimension than the first");
  Dims sizes = sizes_of(x);
  sizes[0] = index.rank() == 0 ? 1 : index.size(0);
  c.give(run("reshape", run("index_select", x.tensor, 0, run("reshape", index.tensor, Dims{-1})),
             with_rows(c.rows, sizes)));
}

/// Each call's loss by itself; the mean is over the targets that aren't ignored.
void nll_loss(BatchedCall& c) {
  if (!c.is_none(2)) c.refuse("weighs classes");
  const Batched x{for_each_row(c.at(0), c.rows), true}, target{for_each_row(c.at(1), c.rows), true};
  if (x.rank() > 2) c.refuse("is of images");
  const int64_t ignored = c.integer(4);
  const Tensor flat = run("reshape", target.tensor, Dims{-1});
  Tensor each = run("nll_loss_forward", stacked(x), flat, Arg(), "none", ignored);
  if (target.rank() == 0) {
    if (c.text(3) == "mean") each = run("div", each, run("to_dtype", run("ne", flat, ignored), each.dtype()));
    return c.give(each);
  }
  each = run("reshape", each, Dims{c.rows, -1});
  if (c.text(3) == "none") return c.give(each);
  Tensor loss = run("sum", each, Dims{1});
  if (c.text(3) == "mean") {
    const Tensor counted = run("reshape", run("ne", flat, ignored), Dims{c.rows, -1});
    loss = run("div", loss, run("to_dtype", run("sum", counted, Dims{1}), loss.dtype()));
  }
  c.give(loss);
}

/// Images of all calls are one batch of images.
void one_batch(BatchedCall& c) {
  for (size_t i = 1; i < c.args.size(); ++i)
    if (c.is_rows(i)) c.refuse(fmt::format("has a '{}' of its own in each call", c.op.sig().params[i].name));
  const Tensor x = c.at(0).tensor;
  Dims sizes = sizes_of(c.at(0));
  const int64_t images = sizes[0];
  sizes[0] *= c.rows;
  c.set(0, run("reshape", x, sizes));
  c.emit();
  for (Batched& r : c.results) {
    Dims made = r.tensor.sizes();
    made[0] = images;
    r.tensor = run("reshape", r.tensor, with_rows(c.rows, made));
  }
}

Rule rule_of(const Op& op) {
  static const std::map<std::string_view, Rule> rules = {
      {"view", sized},
      {"expand", expanded},
      {"permute", permuted},
      {"t", turned},
      {"unsqueeze", unsqueezed},
      {"squeeze", squeezed},
      {"transpose", along_dims},
      {"narrow", along_dims},
      {"select", along_dims},
      {"slice", along_dims},
      {"diagonal", along_dims},
      {"unfold", along_dims},
      {"detach", as_it_is},
      {"alias", as_it_is},
      {"clone", as_it_is},
      {"copy", elementwise},
      {"softmax", along_dims},
      {"log_softmax", along_dims},
      {"cat", along_dims},
      {"flip", along_dims},
      {"gather", along_dims},
      {"cumsum", along_dims},
      {"cumprod", along_dims},
      {"sort", along_dims},
      {"topk", along_dims},
      {"logcumsumexp", along_dims},
      {"mm", mm},
      {"bmm", bmm},
      {"addmm", addmm},
      {"linear", linear},
      {"layer_norm", as_it_is},
      {"embedding_forward", embedding},
      {"index_select", index_select},
      {"nll_loss_forward", nll_loss},
      {"conv2d", one_batch},
      {"max_pool2d", one_batch},
      {"avg_pool2d", one_batch},
      {"adaptive_avg_pool2d", one_batch},
  };
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

}  // namespace terra::recursive
