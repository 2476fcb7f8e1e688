#include "recursive/ir/sub_graph.h"

#include "engine/errors/errors.h"
#include "recursive/ir/state.h"

namespace terra {

using graph::ValueMeta;
using recursive::SubGraphState;

namespace {

graph::ValueId add_input(SubGraphState& s, ValueMeta meta, std::string name) {
  check(!s.complete, "SubGraph \"{}\" got its body already: declare its inputs before define()", s.name);
  return s.body.graph().add_input(std::move(meta), std::move(name));
}

}  // namespace

uint32_t SubGraphState::number_of(const std::shared_ptr<SubGraphState>& callee) {
  for (uint32_t k = 0; k < callees.size(); ++k)
    if (callees[k].lock() == callee) return k;
  callees.push_back(callee);
  return static_cast<uint32_t>(callees.size()) - 1;
}

SubGraph::SubGraph(std::string name) : state_(std::make_shared<SubGraphState>(std::move(name))) {}

HostSymbol SubGraph::handle(std::string name) {
  const ValueMeta meta = recursive::host_meta<void*>();
  return {add_input(*state_, meta, std::move(name)), meta};
}

HostSymbol SubGraph::number(Scalar::Kind kind, std::string name) {
  const ValueMeta meta = ValueMeta::number(kind);
  return {add_input(*state_, meta, std::move(name)), meta};
}

Tensor SubGraph::input(DType dtype, Dims sizes, std::string name) {
  return state_->body.tensor(add_input(*state_, ValueMeta::tensor(dtype, std::move(sizes), {}), std::move(name)));
}

void SubGraph::output(DType dtype, Dims sizes) {
  check(!state_->complete, "SubGraph \"{}\" got its body already: declare its results before define()", name());
  state_->outputs.push_back(ValueMeta::tensor(dtype, std::move(sizes), {}));
}

void SubGraph::define(const std::function<std::vector<Tensor>()>& body) {
  SubGraphState& s = *state_;
  check(!s.complete, "SubGraph \"{}\" got its body already: a second one needs a SubGraph of its own", s.name);
  s.body.write([&] {
    const std::vector<Tensor> results = body();
    check_kind(results.size() == s.outputs.size(), ErrorKind::TypeError,
               "SubGraph \"{}\" declares {} results, but its body returns {}", s.name, s.outputs.size(),
               results.size());
    for (size_t r = 0; r < results.size(); ++r) {
      const ValueMeta made = ValueMeta::tensor(results[r].dtype(), results[r].sizes(), results[r].device());
      check_kind(made == s.outputs[r], ErrorKind::TypeError,
                 "result {} of SubGraph \"{}\" is declared as {}, but its body returns {}", r, s.name,
                 to_string(s.outputs[r]), to_string(made));
    }
    s.body.graph().outputs = s.body.values_of(results);
  });
  s.body.finish();
  s.complete = true;
}

const std::string& SubGraph::name() const { return state_->name; }

}  // namespace terra
