#include "graph/file/shapes.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "engine/ops/halves.h"
#include "engine/ops/inference.h"
#include "engine/tensor/epoch.h"
#include "graph/ir/arg_list.h"
#include "graph/ir/names.h"

namespace terra::graph {
namespace {

class Shapes {
 public:
  explicit Shapes(const Graph& g) : g_(g) {}

  std::string run() const {
    for (const Node& n : g_.nodes) {
      std::string problem;
      try {
        problem = look_at(n);
      } catch (const std::exception& e) {  // what a rule has against its operands
        problem = e.what();
      }
      if (!problem.empty())
        return fmt::format("{} ({} of graph \"{}\")", problem,
                           n.op ? n.op->name : kNodeNames[static_cast<size_t>(n.kind)], g_.name);
      for (const auto& body : n.bodies)
        if (problem = Shapes(*body).run(); !problem.empty()) return problem;
    }
    return {};
  }

 private:
  std::string look_at(const Node& n) const {
    switch (n.kind) {
      case NodeKind::Op: return look_at_op(n);
      case NodeKind::WriteView: return look_at_write(n);
      case NodeKind::Item:
        return is_single(n, 0) && g_.meta(n.results[0]).kind == ValueKind::Scalar ? "" : "takes one element";
      case NodeKind::AsTensor: {
        const ValueMeta &from = g_.meta(operand(n, 0)), &to = g_.meta(n.results[0]);
        const bool fits =
            from.kind == ValueKind::Scalar && to == ValueMeta::tensor(Scalar::dtype_of(from.scalar), {}, {});
        return fits ? "" : "makes a tensor of a number";
      }
      case NodeKind::Assert:
      case NodeKind::Switch: return is_single(n, 0) || !g_.meta(operand(n, 0)).is_tensor() ? "" : "asks one element";
      case NodeKind::While: {
        const Graph& condition = *n.bodies[0];
        const ValueMeta& truth = condition.meta(condition.outputs[0]);
        return truth.is_tensor() && truth.numel() != 1 ? "asks one element" : "";
      }
      case NodeKind::Fused: return "is no node of a graph as it was built";
      default: return "";
    }
  }

  bool is_single(const Node& n, size_t i) const {
    const ValueMeta& m = g_.meta(operand(n, i));
    return m.is_tensor() && m.numel() == 1;
  }

  /// A tensor without memory: rules read dtype, sizes and strides only.
  Tensor stand_in(ValueId id) const {
    const ValueMeta& m = g_.meta(id);
    if (m.kind == ValueKind::Scalar) return Tensor::symbolic({Scalar::dtype_of(m.scalar), {}, true}, nullptr);
    Tensor t = Tensor::symbolic({m.dtype, m.sizes, false, m.device}, nullptr);
    lay_out(*t, contiguous_strides(m.sizes), 0);
    return t;
  }

  /// Operands have been converted: the first that takes part in promotion has the dtype that all have.
  DType common_dtype(const Node& n) const {
    for (size_t i = 0; i < n.args.size(); ++i) {
      if (!(n.op->promoted >> i & 1)) continue;
      ValueId id = operand(n, i);
      if (const auto* list = std::get_if<UseList>(&n.args[i]); list && !list->empty()) id = list->front();
      if (id != kNoId && g_.meta(id).is_tensor()) return g_.meta(id).dtype;
    }
    return g_.meta(n.results[0]).dtype;
  }

  std::vector<ResultMeta> inferred(const Op& op, const std::vector<NodeArg>& args, DType common) const {
    const ArgList list(args, [&](ValueId id) { return stand_in(id); });
    std::vector<ResultMeta> metas;
    Inference inference(op, list.args(), common, metas);
    op.shape(inference);
    return metas;
  }

  std::string look_at_op(const Node& n) const {
    for (size_t i = 0; i < n.args.size(); ++i) {
      const ParamType type = n.op->sig().params[i].type;
      const ValueId id = operand(n, i);
      const auto* list = std::get_if<UseList>(&n.args[i]);
      const bool tensors = !list || std::all_of(list->begin(), list->end(),
                                                [&](ValueId v) { return v == kNoId || g_.meta(v).is_tensor(); });
      const bool number = type == ParamType::Number || type == ParamType::Float;
      if (!tensors || (id != kNoId && g_.meta(id).is_tensor() == number))
        return fmt::format("argument {} is another kind of value", i);
    }
    if (!n.op->shape || n.results.empty()) return "";  // a host op looks at what it makes
    const std::vector<ResultMeta> metas = inferred(*n.op, n.args, common_dtype(n));
    if (metas.size() != n.results.size()) return fmt::format("has {} results, not {}", metas.size(), n.results.size());
    for (size_t i = 0; i < metas.size(); ++i)
      if (std::string problem = compare(n, metas[i], g_.meta(n.results[i])); !problem.empty()) return problem;
    return n.op->is(kView) ? look_at_reach(metas[0], operand(n, 0)) : "";
  }

  std::string compare(const Node& n, const ResultMeta& made, const ValueMeta& said) const {
    const bool in_float = is_half(made.dtype) && !takes_as_it_is(*n.op, made.dtype);  // what kernels compute in
    const ValueMeta wanted =
        ValueMeta::tensor(in_float ? computed_in(made.dtype) : made.dtype, made.sizes, said.device);
    return wanted == said ? "" : fmt::format("makes {}, not {}", to_string(wanted), to_string(said));
  }

  /// A view shows no more than its operand has.
  std::string look_at_reach(const ResultMeta& view, ValueId of) const {
    const auto reach = static_cast<uint64_t>(storage_reach(view.sizes, view.strides, view.offset));
    return reach * size_of(view.dtype) <= g_.meta(of).bytes() ? "" : "shows more than its operand has";
  }

  std::string look_at_write(const Node& n) const {
    const ValueId base = operand(n, 0), value = operand(n, 1);
    if (!g_.meta(base).is_tensor() || !(g_.meta(base) == g_.meta(n.results[0]))) return "makes another kind of value";
    std::vector<NodeArg> args = n.args;
    args.erase(args.begin() + 1);
    const ResultMeta view = inferred(*n.op, args, g_.meta(base).dtype).at(0);
    const ValueMeta was = ValueMeta::tensor(view.dtype, view.sizes, g_.meta(base).device);
    if (!(was == g_.meta(value)))
      return fmt::format("writes {} where {} was", to_string(g_.meta(value)), to_string(was));
    return look_at_reach(view, base);
  }

  const Graph& g_;
};

}  // namespace

std::string find_shape_violation(const Graph& graph) { return Shapes(graph).run(); }

}  // namespace terra::graph
