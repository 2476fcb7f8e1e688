#include "recursive/ir/invoke_op.h"

#include "engine/errors/errors.h"
#include "recursive/ir/state.h"

namespace terra {

using graph::ValueId;
using graph::ValueMeta;
using recursive::Body;
using recursive::SubGraphState;

namespace {

ValueMeta meta_of(const Operand& operand) {
  if (const auto* host = std::get_if<HostSymbol>(&operand)) return host->meta();
  const Tensor& t = std::get<Tensor>(operand);
  return ValueMeta::tensor(t.dtype(), t.sizes(), t.device());
}

std::vector<Tensor> choose(const HostSymbol& selector, const std::vector<const Way*>& ways, const char* what) {
  Body& body = Body::current(what);
  std::vector<std::function<std::vector<ValueId>()>> written;
  for (const Way* way : ways) written.push_back([&body, way] { return body.values_of((*way)()); });
  std::vector<Tensor> results;
  for (ValueId id : body.choose(selector.id(), written)) results.push_back(body.tensor(id));
  return results;
}

void check_selector(const HostSymbol& selector, Scalar::Kind kind, const char* what) {
  check_kind(selector.meta() == ValueMeta::number(kind), ErrorKind::TypeError, "{} goes by a {}, but got a {}", what,
             to_string(ValueMeta::number(kind)), to_string(selector.meta()));
}

}  // namespace

std::vector<Tensor> InvokeOp::operator()(const std::vector<Operand>& operands) const {
  const SubGraphState& callee = *callee_.state();
  const graph::Graph& called = const_cast<SubGraphState&>(callee).body.graph();
  Body& body = Body::current("InvokeOp");
  check(!callee.outputs.empty(),
        "SubGraph \"{}\" is invoked before it says what it returns: declare its results with output() first",
        callee.name);
  check_kind(operands.size() == called.inputs.size(), ErrorKind::TypeError,
             "SubGraph \"{}\" takes {} operands, but is invoked with {}", callee.name, called.inputs.size(),
             operands.size());
  graph::Node n;
  n.kind = graph::NodeKind::Call;
  n.chain = graph::kHostChain;  // it reads the structure
  n.index = body.owner().number_of(callee_.state());
  for (size_t i = 0; i < operands.size(); ++i) {
    const ValueMeta &wanted = called.meta(called.inputs[i]), given = meta_of(operands[i]);
    check_kind(given == wanted, ErrorKind::TypeError,
               "input {} of SubGraph \"{}\" is declared as {}, but is invoked with {}", i, callee.name,
               to_string(wanted), to_string(given));
    const auto* host = std::get_if<HostSymbol>(&operands[i]);
    n.args.push_back(graph::Use{host ? host->id() : body.emitter().value_of(*std::get<Tensor>(operands[i]))});
  }
  std::vector<Tensor> results;
  for (ValueId id : body.emit(std::move(n), callee.outputs)) results.push_back(body.tensor(id));
  return results;
}

HostSymbol item(const Tensor& tensor) {
  Body& body = Body::current("item()");
  check(tensor.numel() == 1, "item() of a tensor with {} elements: a number of the host is one element",
        tensor.numel());
  check_kind(!is_complex(tensor.dtype()), ErrorKind::TypeError,
             "item() of a complex tensor: numbers of the host are real");
  const Scalar::Kind kind = tensor.dtype() == DType::Bool ? Scalar::Kind::Bool
                            : is_inexact(tensor.dtype())  ? Scalar::Kind::Float
                                                          : Scalar::Kind::Int;
  return {body.emitter().emit_item(tensor, kind), ValueMeta::number(kind)};
}

std::vector<Tensor> cond(const HostSymbol& truth, const Way& if_true, const Way& if_false) {
  check_selector(truth, Scalar::Kind::Bool, "cond()");
  return choose(truth, {&if_false, &if_true}, "cond()");
}

std::vector<Tensor> switch_case(const HostSymbol& number, const std::vector<Way>& ways) {
  check_selector(number, Scalar::Kind::Int, "switch_case()");
  check(!ways.empty(), "switch_case() needs at least one way to go");
  std::vector<const Way*> all;
  for (const Way& way : ways) all.push_back(&way);
  return choose(number, all, "switch_case()");
}

}  // namespace terra
