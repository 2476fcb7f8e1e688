// Steps that run nested graphs, each of which has an instance of its own, and graphs that are called.
#include "graph/executor/blocks.h"
#include "graph/executor/call_stack.h"
#include "graph/executor/instances.h"

namespace terra::graph {
namespace {

/// An operand or result on the caller's side. Its elements are in row-major order.
struct Port {
  ValueId id = kNoId;
  ValueKind kind = ValueKind::Tensor;
  Located at;
};

Port make_port(Instance& instance, ValueId id, const Place& place) {
  Port port{id, instance.plan().graph.meta(id).kind, {}};
  if (port.kind == ValueKind::Tensor) port.at.place = &place;
  return port;
}

/// Once the ports stay where they are.
void locate(Instance& instance, std::vector<Port>& ports) {
  for (Port& p : ports)
    if (p.kind == ValueKind::Tensor) p.at.locate(instance, *p.at.place);
}

/// What scalar, handle or record `from` of one activation is becomes that of the other.
void hand_over(ValueKind kind, Activation& giver, ValueId from, Activation& taker, ValueId to) {
  if (kind == ValueKind::Scalar) taker.set_scalar(to, giver.scalar(from));
  if (kind == ValueKind::Handle) taker.set_handle(to, giver.handle(from));
  if (kind == ValueKind::Record) taker.set_record(to, giver.record(from));
}

class Control : public ControlBlock {
 public:
  Control(Instance& instance, const Step& step, size_t first_operand) {
    const Node& node = *step.node;
    for (size_t a = first_operand; a < node.args.size(); ++a)
      operands_.push_back(make_port(instance, std::get<Use>(node.args[a]).id, step.operands[a]));
    for (ValueId r : node.results) results_.push_back(make_port(instance, r, instance.plan().places[r]));
    locate(instance, operands_);
    locate(instance, results_);
    for (const auto& body : node.bodies)
      bodies_.push_back(std::make_unique<Instance>(plan_body(*body, instance.plan().device), instance.callees()));
  }

 protected:
  void pass(Activation& outer, size_t k, Activation& inner) const {
    const Port& p = operands_[k];
    if (p.kind == ValueKind::Tensor)
      inner.bind_input(k, p.at.data);
    else
      hand_over(p.kind, outer, p.id, inner, inner.graph().inputs[k]);
  }

  std::vector<Port> operands_, results_;
  std::vector<std::unique_ptr<Instance>> bodies_;
};

/// Runs one graph, results going to the node's results.
class Once : public Control {
 public:
  using Control::Control;

  void leave(Activation& outer, Activation& inner) override {
    for (size_t r = 0; r < results_.size(); ++r)
      hand_over(results_[r].kind, inner, inner.graph().outputs[r], outer, results_[r].id);
  }
  bool go_on(Activation&) override { return true; }

 protected:
  void enter(Activation& outer, Instance& instance) {
    Activation& inner = CallStack::of_thread().enter(instance, outer, *this);
    for (size_t k = 0; k < operands_.size(); ++k) pass(outer, k, inner);
    for (size_t r = 0; r < results_.size(); ++r)
      if (results_[r].kind == ValueKind::Tensor) inner.bind_fresh(r, results_[r].at.data);
  }
};

class SwitchBlock final : public Once {
 public:
  SwitchBlock(Instance& instance, const Step& step)
      : Once(instance, step, 1),
        selector_(make_port(instance, std::get<Use>(step.node->args[0]).id, step.operands[0])) {
    if (selector_.kind == ValueKind::Tensor) selector_.at.locate(instance, selector_.id);
  }

  static bool run(Block& block, Activation& outer) {
    auto& b = static_cast<SwitchBlock&>(block);
    const Port& selector = b.selector_;
    const Scalar s = selector.kind == ValueKind::Scalar ? outer.scalar(selector.id)
                                                        : read_scalar(selector.at.device, selector.at.data,
                                                                      selector.at.place->dtype, Scalar::Kind::Int);
    const int64_t cases = static_cast<int64_t>(b.bodies_.size()) - 1, chosen = s.to_int();
    b.enter(outer, *b.bodies_[static_cast<size_t>(chosen >= 0 && chosen < cases ? chosen : cases)]);
    return false;
  }

 private:
  Port selector_;
};

class CallBlock final : public Once {
 public:
  CallBlock(Instance& instance, const Step& step)
      : Once(instance, step, 0), callees_(instance.callees()), id_(step.node->index) {}

  static bool run(Block& block, Activation& outer) {
    auto& b = static_cast<CallBlock&>(block);
    if (!b.callee_) b.callee_ = &b.callees_->of(b.id_);
    b.enter(outer, *b.callee_);
    return false;
  }

 private:
  Instances* const callees_;
  const GraphId id_;
  Instance* callee_ = nullptr;
};

/// The state of a loop, its operands that have results, lies where the operands do before the first round, then in
/// the results and in memory beside them by turns.
class WhileBlock final : public Control {
 public:
  WhileBlock(Instance& instance, const Step& step) : Control(instance, step, 0) {
    for (size_t k = 0; k < results_.size(); ++k) beside_.push_back(make_port(instance, results_[k].id, step.beside[k]));
    locate(instance, beside_);
    const Graph& condition = bodies_[0]->plan().graph;
    truth_kind_ = condition.meta(condition.outputs[0]).kind;
    if (truth_kind_ == ValueKind::Tensor) truth_.locate(instance, step.beside.back());
  }

  static bool run(Block& block, Activation& outer) {
    outer.rounds = {};
    static_cast<WhileBlock&>(block).ask(outer);
    return false;
  }

  void leave(Activation& outer, Activation& inner) override {
    const Graph& g = inner.graph();
    if (outer.rounds.asks) {
      if (truth_kind_ == ValueKind::Scalar) outer.rounds.holds = inner.scalar(g.outputs[0]).to_bool();
      return;
    }
    for (size_t k = 0; k < results_.size(); ++k)
      hand_over(results_[k].kind, inner, g.outputs[k], outer, results_[k].id);
  }

  bool go_on(Activation& outer) override {
    Activation::Rounds& rounds = outer.rounds;
    if (!rounds.asks) {
      ++rounds.done;
      ask(outer);
      return false;
    }
    if (truth_kind_ == ValueKind::Tensor)
      rounds.holds = read_scalar(truth_.device, truth_.data, truth_.place->dtype, Scalar::Kind::Bool).to_bool();
    if (rounds.holds) {
      Activation& step = enter(outer, *bodies_[1]);
      for (size_t k = 0; k < results_.size(); ++k)
        if (results_[k].kind == ValueKind::Tensor) step.bind_fresh(k, state(k, rounds.done + 1));
      rounds.asks = false;
      return false;
    }
    for (size_t k = 0; k < results_.size(); ++k) {
      const Port& to = results_[k];
      if (to.kind == ValueKind::Tensor)
        copy_state(outer, state(k, rounds.done), to);
      else if (!rounds.done)
        hand_over(to.kind, outer, operands_[k].id, outer, to.id);
    }
    return true;
  }

 private:
  static void copy_state(const Activation& outer, const void* from, const Port& to) {
    if (to.at.data != from) outer.backend().copy(to.at.data, from, outer.graph().meta(to.id).bytes());
  }
  /// Where state k is after so many rounds.
  void* state(size_t k, uint32_t rounds) const {
    return rounds == 0 ? operands_[k].at.data : (rounds % 2 ? results_ : beside_)[k].at.data;
  }

  void ask(Activation& outer) {
    Activation& condition = enter(outer, *bodies_[0]);
    if (truth_kind_ == ValueKind::Tensor) condition.bind_fresh(0, truth_.data);
    outer.rounds.asks = true;
  }

  Activation& enter(Activation& outer, Instance& instance) {
    Activation& inner = CallStack::of_thread().enter(instance, outer, *this);
    const uint32_t done = outer.rounds.done;
    for (size_t k = 0; k < operands_.size(); ++k) {
      if (done == 0 || k >= results_.size())
        pass(outer, k, inner);
      else if (results_[k].kind == ValueKind::Tensor)
        inner.bind_input(k, state(k, done));
      else
        hand_over(results_[k].kind, outer, results_[k].id, inner, inner.graph().inputs[k]);
    }
    return inner;
  }

  std::vector<Port> beside_;
  ValueKind truth_kind_ = ValueKind::Tensor;
  Located truth_;
};

template <class B>
MadeBlock make(Instance& instance, const Step& step) {
  return {std::make_unique<B>(instance, step), B::run};
}

}  // namespace

MadeBlock make_switch_block(Instance& instance, const Step& step) { return make<SwitchBlock>(instance, step); }
MadeBlock make_while_block(Instance& instance, const Step& step) { return make<WhileBlock>(instance, step); }
MadeBlock make_call_block(Instance& instance, const Step& step) { return make<CallBlock>(instance, step); }

}  // namespace terra::graph
