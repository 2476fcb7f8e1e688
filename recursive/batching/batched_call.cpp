#include "recursive/batching/batched_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/ir/arg_list.h"
#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {
namespace {

bool names_dim(const Param& p) {
  static constexpr std::string_view names[] = {"dim", "dims", "dim0", "dim1", "dim2", "dimension"};
  return (p.type == ParamType::Int || p.type == ParamType::IntList) &&
         std::find(std::begin(names), std::end(names), p.name) != std::end(names);
}

}  // namespace

Dims with_rows(int64_t rows, std::span<const int64_t> sizes) {
  Dims all{rows};
  for (int64_t s : sizes) all.push_back(s);
  return all;
}

Dims sizes_of(const Batched& x) {
  Dims sizes = x.tensor.sizes();
  if (x.rows) sizes.erase(0);
  return sizes;
}

Tensor aligned(const Batched& x, size_t rank) {
  if (!x.rows || x.rank() == rank) return x.tensor;
  Dims sizes = sizes_of(x);
  while (sizes.size() < rank) sizes.insert(0, 1);
  return run("reshape", x.tensor, with_rows(x.tensor.size(0), sizes));
}

Tensor for_each_row(const Batched& x, int64_t rows) {
  return x.rows ? x.tensor : run("expand", x.tensor, with_rows(rows, x.tensor.sizes()));
}

Tensor stacked(const Batched& x) {
  const Dims& sizes = x.tensor.sizes();
  int64_t above = 1;
  for (size_t d = 0; d + 1 < sizes.size(); ++d) above *= sizes[d];
  return run("reshape", x.tensor, Dims{above, sizes.back()});
}

void BatchedCall::refuse(std::string_view why) const { throw Unbatchable{fmt::format("'{}' {}", op.name, why)}; }

void BatchedCall::refuse_rows(size_t first) const {
  for (size_t i = first; i < args.size(); ++i)
    if (is_rows(i)) refuse(fmt::format("has a '{}' of its own in each call", op.sig().params[i].name));
}

const Batched& BatchedCall::at(size_t i) const {
  if (const Batched* x = tensor(i)) return *x;
  refuse("lacks an operand");
}

bool BatchedCall::is_none(size_t i) const {
  if (i >= args.size()) return true;
  const graph::NodeArg* a = attribute(i);
  return a && std::holds_alternative<std::monostate>(*a);
}

Scalar BatchedCall::number(size_t i) const {
  const graph::NodeArg* a = attribute(i);
  const Scalar* s = a ? std::get_if<Scalar>(a) : nullptr;
  if (!s) refuse(fmt::format("takes no number as '{}' that differs from call to call", op.sig().params[i].name));
  return *s;
}

graph::IntList& BatchedCall::list(size_t i) {
  auto& a = std::get<graph::NodeArg>(args[i]);
  if (const auto* one = std::get_if<Scalar>(&a)) a = graph::IntList{one->to_int()};
  return std::get<graph::IntList>(a);
}

void BatchedCall::emit() {
  std::vector<graph::NodeArg> given;
  std::vector<Tensor> tensors;
  const auto use = [&](const Batched& b) {
    tensors.push_back(b.tensor);
    return static_cast<graph::ValueId>(tensors.size() - 1);
  };
  for (const BatchedArg& a : args) {
    if (const auto* attribute = std::get_if<graph::NodeArg>(&a)) {
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
  terra::call(op, list.args(), made);
  for (Tensor& t : made) results.push_back({std::move(t), true});
}

void shift_dims(BatchedCall& c, size_t rank) {
  const auto shifted = [&](int64_t dim) { return dim < 0 ? dim + static_cast<int64_t>(rank) + 1 : dim + 1; };
  for (size_t i = 0; i < c.args.size(); ++i) {
    auto* a = std::get_if<graph::NodeArg>(&c.args[i]);
    if (!a || !names_dim(c.op.sig().params[i])) continue;
    if (auto* s = std::get_if<Scalar>(a)) *s = Scalar(shifted(s->to_int()));
    if (auto* l = std::get_if<graph::IntList>(a)) std::transform(l->begin(), l->end(), l->begin(), shifted);
  }
}

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

void along_dims_of_first(BatchedCall& c) {
  c.refuse_rows(1);
  shift_dims(c, c.at(0).rank());
  c.emit();
}

void as_it_is(BatchedCall& c) {
  c.refuse_rows(1);
  c.emit();
}

}  // namespace terra::recursive
