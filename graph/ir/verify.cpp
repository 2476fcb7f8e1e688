#include "graph/ir/verify.h"

#include <map>

#include <fmt/format.h>

#include "engine/errors/errors.h"
#include "graph/ir/graph_table.h"
#include "graph/ir/names.h"
#include "graph/ir/print.h"

namespace terra::graph {
namespace {

constexpr uint32_t bit(Stage s) { return 1u << static_cast<int>(s); }
constexpr uint32_t kEverywhere = bit(Stage::Captured) | bit(Stage::Optimized) | bit(Stage::Portable);

/// What a node kind looks like and where it may stand. Counts: {least, most}, -1: any.
struct KindRule {
  NodeKind kind;
  uint32_t stages;
  bool has_op;
  int least_args, most_args;
  int results;  ///< -1: any number
  int least_bodies, most_bodies;
};

constexpr KindRule kKindRules[] = {
    {NodeKind::Op, kEverywhere, true, 0, -1, -1, 0, 0},
    {NodeKind::Fused, bit(Stage::Optimized) | bit(Stage::Portable), false, 0, -1, -1, 1, 1},
    {NodeKind::WriteView, kEverywhere, true, 2, -1, 1, 0, 0},
    {NodeKind::Item, kEverywhere, false, 1, 1, 1, 0, 0},
    {NodeKind::AsTensor, kEverywhere, false, 1, 1, 1, 0, 0},
    {NodeKind::Assert, kEverywhere, false, 1, 1, 0, 0, 0},
    {NodeKind::Switch, kEverywhere, false, 1, -1, -1, 1, -1},
    {NodeKind::While, kEverywhere, false, 0, -1, -1, 2, 2},
    {NodeKind::Call, kEverywhere, false, 0, -1, -1, 0, 0},
    {NodeKind::Pack, kEverywhere, false, 0, -1, 1, 0, 0},
    {NodeKind::Unpack, kEverywhere, false, 1, 1, -1, 0, 0},
    {NodeKind::HostCall, bit(Stage::Captured) | bit(Stage::Optimized), false, 0, -1, -1, 0, 0},
};

/// What may stand for each parameter type, as indices of NodeArg's alternatives (bit i: alternative i).
constexpr uint32_t kNone = 1 << 0, kNumber = 1 << 1, kInts = 1 << 2, kDType = 1 << 3, kText = 1 << 4,
                   kGenerator = 1 << 5, kUse = 1 << 6, kList = 1 << 7;
struct ParamRule {
  ParamType type;
  uint32_t allowed;
};
constexpr ParamRule kParamRules[] = {
    {ParamType::Tensor, kNone | kUse},          {ParamType::TensorOrNumber, kNone | kUse | kNumber},
    {ParamType::TensorList, kNone | kList},     {ParamType::Number, kNone | kNumber | kUse},
    {ParamType::Int, kNone | kNumber},          {ParamType::Float, kNone | kNumber | kUse},
    {ParamType::Bool, kNone | kNumber},         {ParamType::IntList, kNone | kInts | kNumber},
    {ParamType::DType, kNone | kDType},         {ParamType::String, kNone | kText},
    {ParamType::Generator, kNone | kGenerator},
};

class Verifier {
 public:
  Verifier(const Graph& g, Stage stage, const GraphTable* table)
      : g_(g), stage_(stage), table_(table), defined_(g.values.size(), false) {}

  std::string run() {
    for (ValueId id : g_.inputs) define(id, "input");
    for (const auto& [id, tensor] : g_.constants) {
      define(id, "constant");
      if (problem_.empty() && !(g_.meta(id) == ValueMeta::tensor(tensor.dtype(), tensor.sizes(), tensor.device())))
        complain(fmt::format("constant %{} has another dtype or shape than its tensor", id));
    }
    for (const Node& n : g_.nodes) {
      if (!problem_.empty()) break;
      node_ = &n;
      check_node(n);
    }
    node_ = nullptr;
    for (ValueId id : g_.outputs)
      if (id >= defined_.size() || !defined_[id]) complain(fmt::format("output %{} is not defined", id));
    return problem_;
  }

 private:
  void complain(std::string what) {
    if (!problem_.empty()) return;
    if (node_) what += fmt::format(" (node {} of graph \"{}\")", label(*node_), g_.name);
    problem_ = std::move(what);
  }
  static std::string label(const Node& n) {
    return n.op ? std::string(n.op->name) : std::string(kNodeNames[static_cast<int>(n.kind)]);
  }

  void define(ValueId id, const char* what) {
    if (id >= defined_.size()) return complain(fmt::format("{} %{} is beyond the values", what, id));
    if (defined_[id]) return complain(fmt::format("value %{} is defined twice", id));
    defined_[id] = true;
    if (stage_ == Stage::Portable && g_.meta(id).kind == ValueKind::Handle)
      complain(fmt::format("value %{} is an object of the host", id));
  }

  void check_node(const Node& n) {
    const KindRule& rule = kKindRules[static_cast<int>(n.kind)];
    const auto args = static_cast<int>(n.args.size()), bodies = static_cast<int>(n.bodies.size());
    if (!(rule.stages & bit(stage_))) return complain("this kind of node may not stand in a graph of this stage");
    if (rule.has_op != (n.op != nullptr)) return complain("a node has an op iff it is an op or a write_view");
    if (args < rule.least_args || (rule.most_args >= 0 && args > rule.most_args))
      return complain(fmt::format("has {} arguments", args));
    if (rule.results >= 0 && static_cast<int>(n.results.size()) != rule.results)
      return complain(fmt::format("has {} results", n.results.size()));
    if (bodies < rule.least_bodies || (rule.most_bodies >= 0 && bodies > rule.most_bodies))
      return complain(fmt::format("has {} nested graphs", bodies));
    for_each_use(n, [&](ValueId id) {
      if (id >= defined_.size() || !defined_[id]) complain(fmt::format("uses %{} before it is defined", id));
    });
    if (!problem_.empty()) return;
    if (n.kind == NodeKind::Op) check_op(n);
    if (n.kind != NodeKind::Op) check_operands(n);
    check_effects(n);
    check_bodies(n);
    if (n.kind == NodeKind::Call) check_call(n);
    check_kinds(n);
    for (ValueId id : n.results) define(id, "result");
  }

  void check_op(const Node& n) {
    const auto& params = n.op->sig().params;
    if (params.size() != n.args.size())
      return complain(fmt::format("has {} arguments where the signature has {}", n.args.size(), params.size()));
    if (n.op->composite) return complain("a composite op is expanded when a graph is built");
    for (size_t i = 0; i < params.size(); ++i) check_argument(params[i], n.args[i]);
    if (n.op->is(kRandom) != (n.chain >= kFirstGeneratorChain))
      complain("an op is in a generator's chain iff it is random");
  }

  void check_argument(const Param& param, const NodeArg& arg) {
    const ParamRule& rule = kParamRules[static_cast<int>(param.type)];
    if (!(rule.allowed >> arg.index() & 1))
      complain(fmt::format("argument '{}' can't be {}", param.name, print_arg(arg)));
    const auto* generator = std::get_if<Generator*>(&arg);
    if (stage_ == Stage::Portable && generator && *generator)
      complain("a portable graph draws from the default generator alone");
  }

  /// All arguments of other nodes are values, but for what a write_view says of its view; records have empty places.
  void check_operands(const Node& n) {
    const size_t values = n.kind == NodeKind::WriteView ? 2 : n.args.size();
    const auto may_stand = [&n](const NodeArg& arg) {
      return std::holds_alternative<Use>(arg) ||
             (n.kind == NodeKind::Pack && std::holds_alternative<std::monostate>(arg));
    };
    for (size_t i = 0; i < values; ++i)
      if (!may_stand(n.args[i])) return complain(fmt::format("operand {} is no value", i));
    if (n.kind != NodeKind::WriteView) return;
    const auto& params = n.op->sig().params;
    if (!n.op->is(kView)) return complain("a write_view goes through a view op");
    if (params.size() + 1 != n.args.size())
      return complain(fmt::format("has {} arguments where the view takes {}", n.args.size(), params.size() + 1));
    for (size_t i = 1; i < params.size(); ++i) check_argument(params[i], n.args[i + 1]);
  }

  void check_effects(const Node& n) {
    if (n.kind == NodeKind::Assert && n.chain != kAssertChain) return complain("an assert stands in the assert chain");
    if (n.kind == NodeKind::HostCall && n.chain != kHostChain) return complain("a host call stands in the host chain");
    if (!n.chain) return;
    auto [last, fresh] = tickets_.try_emplace(n.chain, n.ticket);
    if (!fresh && last->second >= n.ticket) complain(fmt::format("tickets of chain {} don't ascend", n.chain));
    last->second = n.ticket;
  }

  /// Operands and results of nested graphs agree with the node's.
  void check_bodies(const Node& n) {
    for (size_t b = 0; b < n.bodies.size(); ++b) {
      const Graph& body = *n.bodies[b];
      if (std::string inner = Verifier(body, stage_, table_).run(); !inner.empty()) return complain(std::move(inner));
      const size_t skip = n.kind == NodeKind::Switch ? 1 : 0;
      if (body.inputs.size() + skip != n.args.size())
        return complain("a nested graph takes another number of operands");
      for (size_t i = 0; i < body.inputs.size(); ++i) {
        const auto* use = std::get_if<Use>(&n.args[i + skip]);
        if (!use || !(body.meta(body.inputs[i]) == g_.meta(use->id)))
          return complain(fmt::format("operand {} of a nested graph has another dtype or shape", i));
      }
      if (n.kind == NodeKind::While && b == 0) {
        if (body.outputs.size() != 1) complain("the condition of a while has one result");
        continue;
      }
      if (n.kind == NodeKind::While && body.inputs.size() < n.results.size())
        return complain("a while has more results than operands");
      for (size_t i = 0; n.kind == NodeKind::While && i < n.results.size(); ++i)
        if (!(body.meta(body.inputs[i]) == g_.meta(n.results[i])))
          return complain(fmt::format("result {} of a while has another dtype or shape than its operand", i));
      if (body.outputs.size() != n.results.size()) return complain("a nested graph has another number of results");
      for (size_t i = 0; i < n.results.size(); ++i)
        if (!(body.meta(body.outputs[i]) == g_.meta(n.results[i])))
          return complain(fmt::format("result {} of a nested graph has another dtype or shape", i));
    }
  }

  void check_kinds(const Node& n) {
    const auto is = [&](ValueId id, ValueKind kind) { return id != kNoId && g_.meta(id).kind == kind; };
    if (n.kind == NodeKind::AsTensor && !is(operand(n, 0), ValueKind::Scalar)) complain("takes a scalar");
    if (n.kind == NodeKind::Unpack && !is(operand(n, 0), ValueKind::Record)) complain("takes a record");
    if (n.kind == NodeKind::Pack && !is(n.results[0], ValueKind::Record)) complain("makes a record");
    for (const NodeArg& a : n.args)
      if (n.kind == NodeKind::Pack && !std::holds_alternative<Use>(a) && !std::holds_alternative<std::monostate>(a))
        complain("keeps values only");
  }

  /// The operands and results of a call are those of the graph that it names.
  void check_call(const Node& n) {
    const Graph* callee = table_ ? table_->find(n.index) : nullptr;
    if (!callee) return complain(fmt::format("calls graph {}, which the table hasn't", n.index));
    if (callee->inputs.size() != n.args.size())
      return complain(
          fmt::format("\"{}\" takes {} operands, not {}", callee->name, callee->inputs.size(), n.args.size()));
    if (callee->outputs.size() != n.results.size())
      return complain(
          fmt::format("\"{}\" has {} results, not {}", callee->name, callee->outputs.size(), n.results.size()));
    for (size_t i = 0; i < n.args.size(); ++i) {
      const auto* use = std::get_if<Use>(&n.args[i]);
      if (!use || !(callee->meta(callee->inputs[i]) == g_.meta(use->id)))
        return complain(fmt::format("operand {} of \"{}\" has another dtype or shape", i, callee->name));
    }
    for (size_t i = 0; i < n.results.size(); ++i)
      if (!(callee->meta(callee->outputs[i]) == g_.meta(n.results[i])))
        return complain(fmt::format("result {} of \"{}\" has another dtype or shape", i, callee->name));
    if (n.is_pure() && has_effects(*callee, table_)) complain("the call of a graph with effects is one itself");
  }

  const Graph& g_;
  const Stage stage_;
  const GraphTable* table_;
  std::vector<bool> defined_;
  std::map<uint32_t, uint32_t> tickets_;
  const Node* node_ = nullptr;
  std::string problem_;
};

}  // namespace

std::string find_violation(const Graph& graph, Stage stage) {
  const GraphTable* table = graph.table.get();
  std::string problem = Verifier(graph, stage, table).run();
  for (GraphId id = 0; table && id < table->size() && problem.empty(); ++id)
    if (const Graph* callee = table->find(id)) problem = Verifier(*callee, stage, table).run();
  return problem;
}

void verify(const Graph& graph, Stage stage, const char* when) {
  if (std::string problem = find_violation(graph, stage); !problem.empty())
    throw InternalError(fmt::format("invalid graph {}: {}", when, problem));
}

}  // namespace terra::graph
