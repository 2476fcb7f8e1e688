// The algebraic rules.
//
// Laws of the set. (1) Every rule keeps every bit of every result, NaN payloads aside, so all of them hold in exact
// mode: none reassociates, drops a signed zero (x + 0.0 isn't x for x = -0.0) or assumes finite values (x * 0 isn't 0).
// (2) A rule replaces a node by one of its operands, by an operand's operand, or by a node with fewer or simpler
// operands of the order write_view > copy, fill > views and elementwise ops > full: no rule goes up, so the set
// terminates. (3) A rule looks at definitions only, never at uses, and never at effects.
#include <cmath>

#include "graph/passes/rewrite.h"

namespace terra::graph {
namespace {

bool same_attributes(const Node& a, const Node& b, size_t from_a, size_t from_b) {
  if (a.args.size() - from_a != b.args.size() - from_b) return false;
  for (size_t i = 0; from_a + i < a.args.size(); ++i)
    if (!same_arg(a.args[from_a + i], b.args[from_b + i])) return false;
  return true;
}

IntList sizes_of(const ValueMeta& m) { return IntList(m.sizes.begin(), m.sizes.end()); }

/// View ops that only rearrange all elements in row-major order, or repeat nothing.
bool keeps_order(std::string_view name) {
  return name == "view" || name == "squeeze" || name == "unsqueeze" || name == "detach";
}
/// View ops under which no two elements of the result are the same element of the operand.
bool is_injective(std::string_view name) {
  for (std::string_view n :
       {"select", "narrow", "slice", "transpose", "permute", "t", "diagonal", "view_as_real", "view_as_complex"})
    if (n == name) return true;
  return keeps_order(name);
}

// view(x) = x where the shape is the same; the other reorderings aren't determined by their shapes
bool same_shape_view(Rewrite& r) {
  return (keeps_order(r.node().op->name) || r.is("expand")) && r.node().kind == NodeKind::Op && r.becomes(r.value(0));
}

// pad_slice(x) = x where nothing is padded: the shape is the same, and a slice with gaps would need a larger one
bool pads_nothing(Rewrite& r) { return r.node().kind == NodeKind::Op && r.is("pad_slice") && r.becomes(r.value(0)); }

// t(t(x)) = x, transpose(transpose(x, a, b), a, b) = x
bool transpose_twice(Rewrite& r) {
  if (r.node().kind != NodeKind::Op || !r.is_any({"t", "transpose"})) return false;
  const Node* inner = r.made_by(r.value(0), r.node().op->name);
  return inner && same_attributes(r.node(), *inner, 1, 1) && r.becomes(std::get<Use>(inner->args[0]).id);
}

// permute(permute(x, a), b) = permute(x, a[b]), permute(x, (0, 1, ...)) = x
bool permute_twice(Rewrite& r) {
  if (r.node().kind != NodeKind::Op || !r.is("permute")) return false;
  const auto rank = static_cast<int64_t>(r.result().sizes.size());
  const auto wrapped = [rank](int64_t d) { return wrap_dim(d, static_cast<size_t>(rank)); };
  IntList order = std::get<IntList>(r.node().args[1]);
  ValueId from = r.value(0);
  const Node* inner = r.made_by(from, "permute");
  const IntList* first = inner ? &std::get<IntList>(inner->args[1]) : nullptr;
  if (inner) from = std::get<Use>(inner->args[0]).id;
  bool is_identity = true;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t& d = order[static_cast<size_t>(i)];
    d = first ? wrapped((*first)[static_cast<size_t>(wrapped(d))]) : wrapped(d);
    is_identity = is_identity && d == i;
  }
  if (is_identity) return r.becomes(from);
  return inner && r.becomes("permute", {Use{from}, order});
}

// view(view(x, a), b) = view(x, b)
bool view_of_view(Rewrite& r) {
  if (r.node().kind != NodeKind::Op || !keeps_order(r.node().op->name)) return false;
  const Node* inner = r.maker(r.value(0));
  if (!inner || inner->kind != NodeKind::Op || !keeps_order(inner->op->name)) return false;
  return r.becomes("view", {inner->args[0], sizes_of(r.result())});
}

// to_dtype(x, dtype(x)) = x
bool same_dtype(Rewrite& r) { return r.node().kind == NodeKind::Op && r.is("to_dtype") && r.becomes(r.value(0)); }

// clone(x) = x where x was computed (and is therefore contiguous, which kernels may ask of a clone)
bool clone_of_computed(Rewrite& r) {
  if (r.node().kind != NodeKind::Op || !r.is_any({"clone", "contiguous"})) return false;
  const Node* maker = r.maker(r.value(0));
  return maker && (maker->kind == NodeKind::WriteView || (maker->kind == NodeKind::Op && !maker->op->is(kView))) &&
         r.becomes(r.value(0));
}

// copy(x, y) = expand(to_dtype(y, dtype(x)), sizes(x))
bool copy_is_source(Rewrite& r) {
  if (r.node().kind != NodeKind::Op || !r.is("copy") || r.value(1) == kNoId) return false;
  ValueId source = r.value(1);
  if (!r.meta(source).is_tensor()) return false;
  const ValueMeta result = r.result();
  if (r.meta(source) == result) return r.becomes(source);
  if (r.meta(source).dtype != result.dtype)
    source = r.insert("to_dtype", {Use{source}, result.dtype, NodeArg()},
                      ValueMeta::tensor(result.dtype, r.meta(source).sizes, result.device));
  if (r.meta(source).sizes == result.sizes) return r.becomes("view", {Use{source}, sizes_of(result)});
  return r.becomes("expand", {Use{source}, sizes_of(result)});
}

// fill(x, c) = full(sizes(x), c, dtype(x)), zero(x) = fill(x, 0)
bool fill_is_full(Rewrite& r) {
  if (r.node().kind != NodeKind::Op || !r.is_any({"fill", "zero"})) return false;
  const NodeArg value = r.is("zero") ? NodeArg(Scalar(0)) : r.node().args[1];
  if (!std::holds_alternative<Scalar>(value)) return false;
  return r.becomes("full", {sizes_of(r.result()), value, r.result().dtype});
}

// op(x, full(c)) = op(x, c): a number becomes an element of the same dtype
bool full_operand_is_number(Rewrite& r) {
  Node& n = r.node();
  if (n.kind != NodeKind::Op || !r.is_any({"add", "sub", "mul", "true_divide", "maximum", "minimum"})) return false;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId id = r.value(i), other = r.value(1 - i);
    if (id == kNoId || other == kNoId || r.meta(other).dtype != r.result().dtype) continue;
    if (!(r.meta(other).sizes == r.result().sizes)) continue;
    const Scalar* number = r.number(i);
    if (!number || r.number(1 - i)) continue;
    if (!is_inexact(r.result().dtype) && number->is_float()) continue;
    n.args[i] = *number;
    return true;
  }
  return false;
}

bool equals(const Scalar* s, double v) { return s && !s->is_complex() && s->to_double() == v; }

// x * 1 = x, 1 * x = x, x / 1 = x, x - 0 = x (x - 0.0 keeps -0.0, x + 0.0 doesn't; a complex infinity times 1 is NaN)
bool neutral_element(Rewrite& r) {
  const Node& n = r.node();
  if (n.kind != NodeKind::Op || is_complex(r.result().dtype)) return false;
  const auto literal = [&](size_t i) { return std::get_if<Scalar>(&n.args[i]); };
  if (r.is("mul"))
    return (equals(literal(1), 1) && r.becomes(r.value(0))) || (equals(literal(0), 1) && r.becomes(r.value(1)));
  if (r.is("true_divide")) return equals(literal(1), 1) && r.becomes(r.value(0));
  if (r.is("sub")) {
    const Scalar* zero = literal(1);
    return zero && equals(zero, 0) && !std::signbit(zero->to_double()) && r.becomes(r.value(0));
  }
  return false;
}

// -(-x) = x
bool negate_twice(Rewrite& r) {
  if (r.node().kind != NodeKind::Op || !r.is("neg")) return false;
  const Node* inner = r.made_by(r.value(0), "neg");
  return inner && r.becomes(std::get<Use>(inner->args[0]).id);
}

// view(write_view(x, y)) = y through the same view
bool read_what_was_written(Rewrite& r) {
  const Node& n = r.node();
  if (n.kind != NodeKind::Op || !n.op->is(kView) || !is_injective(n.op->name)) return false;
  const Node* written = r.maker(r.value(0));
  if (!written || written->kind != NodeKind::WriteView || written->op != n.op) return false;
  return same_attributes(n, *written, 1, 2) && r.becomes(std::get<Use>(written->args[1]).id);
}

// write_view(write_view(x, y), z) = write_view(x, z) through the same view
bool overwritten(Rewrite& r) {
  Node& n = r.node();
  if (n.kind != NodeKind::WriteView) return false;
  const Node* before = r.maker(r.value(0));
  if (!before || before->kind != NodeKind::WriteView || before->op != n.op || !same_attributes(n, *before, 2, 2))
    return false;
  n.args[0] = before->args[0];
  return true;
}

// write_view(x, y) = the inverse view of y where the view shows all of x
bool write_of_everything(Rewrite& r) {
  const Node& n = r.node();
  if (n.kind != NodeKind::WriteView) return false;
  const ValueId y = r.value(1);
  if (keeps_order(n.op->name)) return r.becomes("view", {Use{y}, sizes_of(r.result())});
  if (n.op->name == "view_as_real") return r.becomes("view_as_complex", {Use{y}});
  if (n.op->name == "view_as_complex") return r.becomes("view_as_real", {Use{y}});
  if (n.op->name == "t") return r.becomes("t", {Use{y}});
  if (n.op->name == "transpose") return r.becomes("transpose", {Use{y}, n.args[2], n.args[3]});
  if (n.op->name != "permute") return false;
  const auto* dims = std::get_if<IntList>(&n.args[2]);
  if (!dims) return false;
  const auto rank = static_cast<int64_t>(dims->size());
  IntList inverse(dims->size());
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t from = (*dims)[d];
    inverse[static_cast<size_t>(from < 0 ? from + rank : from)] = d;
  }
  return r.becomes("permute", {Use{y}, std::move(inverse)});
}

// log_softmax_backward(nll_loss_backward(g, ...), y) = cross_entropy_backward(g, ..., y) along the last of one or two
// dimensions
bool cross_entropy_in_one(Rewrite& r) {
  const Node& n = r.node();
  if (n.kind != NodeKind::Op || !r.is("log_softmax_backward") || r.result().sizes.size() > 2) return false;
  const Node* inner = r.made_by(r.value(0), "nll_loss_backward");
  const auto* dim = std::get_if<Scalar>(&n.args[2]);
  const auto rank = static_cast<int64_t>(r.result().sizes.size());
  if (!inner || !dim || (dim->to_int() != rank - 1 && dim->to_int() != -1)) return false;
  return r.becomes("cross_entropy_backward", {inner->args[0], inner->args[1], inner->args[2], inner->args[3], n.args[1],
                                              inner->args[5], inner->args[6]});
}

}  // namespace

const std::vector<Rule>& simplify_rules() {
  static const std::vector<Rule> rules = {
      {"view(x) = x, same shape", same_shape_view},
      {"pad_slice(x) = x, same shape", pads_nothing},
      {"t(t(x)) = x", transpose_twice},
      {"permute(permute(x)) = permute(x)", permute_twice},
      {"view(view(x, a), b) = view(x, b)", view_of_view},
      {"to_dtype(x, dtype(x)) = x", same_dtype},
      {"clone(x) = x, x computed", clone_of_computed},
      {"copy(x, y) = expand(to_dtype(y))", copy_is_source},
      {"fill(x, c) = full(c)", fill_is_full},
      {"op(x, full(c)) = op(x, c)", full_operand_is_number},
      {"x * 1 = x / 1 = x - 0 = x", neutral_element},
      {"-(-x) = x", negate_twice},
      {"v(write_v(x, y)) = y", read_what_was_written},
      {"write_v(write_v(x, y), z) = write_v(x, z)", overwritten},
      {"write_v(x, y) = v^-1(y), v onto", write_of_everything},
      {"d log_softmax(d nll(g)) = d cross_entropy(g)", cross_entropy_in_one},
  };
  return rules;
}

}  // namespace terra::graph
