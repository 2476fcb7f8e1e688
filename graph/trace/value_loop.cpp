// Loops whose rounds a tensor's value counts, as `while` nodes.
//
// A round is left in its middle, at the exit. The graph does the first round up to there in line; a step of the node is
// the rest of a round and the next one up to its exit, so that nothing is computed twice and nothing that the program
// didn't compute. What is alive at the exit is the state of the loop; what it only looks at are further operands.
//
// In the state tensors are values, each in memory of its own. That is what they are to the program as long as nobody
// sees them share memory with another tensor: where somebody could, the loop is refused.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/trace/ids.h"
#include "graph/trace/nested_inputs.h"
#include "graph/trace/numbers.h"

namespace terra::graph {

class LoopEmission {
 public:
  LoopEmission(SymbolicReplay& replay, const LoopBody& body)
      : r_(replay), body_(body), outer_(*replay.emitter_), inner_(step_), taken_(r_, outer_, step_, inner_) {}

  void run() {
    ++r_.bodies_;
    std::vector<ReplayValue> carried;
    for (const auto& c : body_.carried) carried.push_back(r_.value(c.init));
    r_.begin_round(body_, std::move(carried));
    r_.play(head());
    find_ids();
    const Tensor first = goes_on();
    state_.push_back({kNoValue, outer_.value_of(*first), {}, false, {}, {}});
    for (TraceId id : alive_) enter_state(id);
    outer_values_ = r_.all_values();
    emit_step();
    r_.all_values() = outer_values_;
    check_sharing();
    leave();
    --r_.bodies_;
  }

 private:
  /// What a round hands to the next one.
  struct Part {
    TraceId id;
    ValueId operand;
    Tensor outer;  ///< as it was at the first exit; not defined for numbers
    bool number;
    Tensor inner;    ///< what stands for it in the step
    Tensor renewed;  ///< what it is at the next exit
  };
  [[noreturn]] static void refuse(const char* why) { throw LoopRefused(why); }

  std::span<const TraceRecord> head() const { return std::span(body_.records).first(body_.exit); }
  std::span<const TraceRecord> tail() const { return std::span(body_.records).subspan(body_.exit + 1); }

  /// Calls visit(TraceId, bool defines).
  template <class F>
  static void each_id(std::span<const TraceRecord> records, F visit) {
    EachId each([&](TraceId& id, bool defines) {
      if (id != kNoValue) visit(id, defines);
    });
    for (const TraceRecord& r : records) each(const_cast<TraceRecord&>(r));  // the visitor changes nothing
  }

  // ---- what is alive at the exit ----

  void find_ids() {
    std::vector<TraceId> at_exit;
    for (const auto& c : body_.carried) at_exit.push_back(c.inner);
    for (const auto& c : body_.carried)
      if (std::holds_alternative<Scalar>(r_.value(c.inner))) varying_.insert(c.inner);
    each_id(head(), [&](TraceId id, bool defines) {
      if (defines) at_exit.push_back(id);
    });
    for (const TraceRecord& r : head())
      if (const auto* sum = std::get_if<NumberRecord>(&r.what);
          sum && (varying_.count(sum->a.id) || varying_.count(sum->b.id)))
        varying_.insert(sum->result);
    made_.insert(at_exit.begin(), at_exit.end());
    std::unordered_set<TraceId> wanted, of_tail;
    const auto use = [&](TraceId id, bool defines) {
      if (defines && !made_.count(id)) of_tail.insert(id);
      if (!defines) wanted.insert(id);
    };
    each_id(tail(), use);
    for (const auto& c : body_.carried) wanted.insert(c.next);
    for (const auto& l : body_.left) wanted.insert(l.inner), left_.insert(l.inner);
    for (TraceId id : at_exit)
      if (wanted.erase(id)) alive_.push_back(id);
    each_id(head(), use);
    each_id(std::span(body_.records).subspan(body_.exit, 1), use);
    for (TraceId id : wanted)
      if (!made_.count(id) && !of_tail.count(id)) captured_.push_back(id);
    std::sort(captured_.begin(), captured_.end());
    for (const TraceRecord& r : body_.records) takes_gradients_ |= std::holds_alternative<GradRecord>(r.what);
  }

  // ---- the first exit ----

  /// Whether another round comes, as a bool of no dimensions.
  Tensor goes_on() {
    static const Op* logical_not = find_op("logical_not");
    const GradMode off(false);
    const auto& end = std::get<AssertRecord>(body_.records[body_.exit].what);
    const Tensor t = r_.truth(r_.value(end.tensor));
    return end.expected ? t : (*logical_not)(t);
  }

  void enter_state(TraceId id) {
    const ReplayValue& value = r_.value(id);
    if (std::holds_alternative<Scalar>(value) && !varying_.count(id)) {
      known_.push_back(id);
      return;
    }
    if (r_.is_number(value)) {
      if (const auto* known = std::get_if<Scalar>(&value);
          known && !known->is_float() && std::abs(known->to_int()) > int64_t{1} << 53)
        refuse("a loop counts in numbers that may leave 64 bits");
      state_.push_back({id, outer_.value_of(*r_.exact(value)), {}, true, {}, {}});
      return;
    }
    const auto* t = std::get_if<Tensor>(&value);
    if (!t || !t->defined()) refuse("a loop carries something that is neither a tensor nor a number");
    if (t->requires_grad()) refuse("a loop carries a tensor that leads to gradients");
    state_.push_back({id, outer_.value_of(**t), *t, false, {}, {}});
  }

  // ---- the step ----

  void emit_step() {
    EmitterScope scope(inner_);
    struct Inside {
      Inside(GraphEmitter*& place, GraphEmitter& now) : place_(place), before_(std::exchange(place, &now)) {}
      ~Inside() { place_ = before_; }
      GraphEmitter*& place_;
      GraphEmitter* before_;
    } inside(r_.emitter_, inner_);
    step_.name = "round";
    for (Part& part : state_) bind_state(part);
    if (takes_gradients_) taken_.will_take_gradients();
    for (TraceId id : captured_) taken_.bind(id);
    r_.play(tail());
    std::vector<TraceId> next;
    for (const auto& c : body_.carried) next.push_back(c.next);
    r_.begin_round(body_, r_.values_of(next));
    r_.play(head());
    step_.outputs.push_back(inner_.value_of(*goes_on()));
    for (size_t i = 1; i < state_.size(); ++i) step_.outputs.push_back(renew(state_[i]));
    for (TraceId id : known_) {
      const auto* now = std::get_if<Scalar>(&r_.value(id));
      if (!now || bits_of(*now) != bits_of(std::get<Scalar>(outer_values_[id])))
        refuse("a number that decides sizes differs between rounds");
    }
    if (!inner_.generators().empty()) refuse("a round draws random numbers");
  }

  void bind_state(Part& part) {
    const ValueMeta& meta = outer_.meta(part.operand);
    const ValueId input = step_.add_input(meta);
    if (part.id == kNoValue) return;
    if (part.number) {
      const Tensor exact = inner_.whole(input, Dims{}, 0);
      const auto kind = meta.dtype == DType::Bool  ? Scalar::Kind::Bool
                        : meta.dtype == DType::I64 ? Scalar::Kind::Int
                                                   : Scalar::Kind::Float;
      r_.set(part.id, inner_.number(inner_.emit_item(exact, kind)));
      return;
    }
    part.inner = inner_.whole(input, part.outer.strides(), part.outer->offset);
    part.inner->wrapped_number = part.outer->wrapped_number;
    r_.set(part.id, part.inner);
  }

  ValueId renew(Part& part) {
    const ReplayValue& now = r_.value(part.id);
    const ValueMeta& meta = outer_.meta(part.operand);
    if (part.number) {
      if (!r_.is_number(now)) refuse("a number of one round is a tensor in the next");
      const Tensor exact = r_.exact(now);
      if (exact.dtype() != meta.dtype) refuse("a number changes its type between rounds");
      return inner_.value_of(*exact);
    }
    const auto* t = std::get_if<Tensor>(&now);
    if (!t || !t->defined() || r_.is_number(now)) refuse("a tensor of one round is something else in the next");
    if (t->dtype() != part.outer.dtype() || t->sizes() != part.outer.sizes() || t->strides() != part.outer.strides() ||
        (*t)->offset != part.outer->offset || (*t)->wrapped_number != part.outer->wrapped_number)
      refuse("a tensor changes its sizes or layout between rounds");
    if (t->requires_grad()) refuse("a loop carries a tensor that leads to gradients");
    part.renewed = *t;
    return inner_.value_of(**t);
  }

  // ---- who could see that memory is shared ----

  void check_sharing() {
    taken_.check();
    std::unordered_set<const SymbolicStorage*> seen, renewed;
    for (const Part& part : state_) {
      if (part.id == kNoValue || part.number) continue;
      if (storage_of(part.inner)->version > 0) refuse("a round writes into what the round before it made");
      const auto before = storage_of(part.outer), after = storage_of(part.renewed);
      const NestedInputs::Memory *a = taken_.find_outer(before.get()), *b = taken_.find_inner(after.get());
      const bool leaves = left_.count(part.id) > 0;
      if ((a && (leaves || a->inner->version > 0)) || (b && (leaves || b->inner->version > 0)))
        refuse("a loop carries a view of memory that it also uses otherwise");
      if (!leaves) continue;
      bool clear = is_alone(part.outer) && is_alone(part.renewed);
      for (const auto& may : all_of(before))
        clear = clear && seen.insert(may.get()).second && may->input < 0 && may->constant < 0;
      for (const auto& may : all_of(after))
        clear = clear && renewed.insert(may.get()).second && !taken_.find_inner(may.get()) &&
                (may == after || may == storage_of(part.inner) || !is_carried(may));
      if (!clear) refuse("a tensor that leaves a loop may be another one, or part of it");
      if (before->counted() != after->counted() || before->uncounted || after->uncounted)
        refuse("a tensor that leaves a loop was written differently often in its rounds");
      for (const auto& may : all_of(before)) check_others(may.get());
    }
  }

  bool is_carried(const std::shared_ptr<SymbolicStorage>& inner) const {
    return std::any_of(state_.begin(), state_.end(), [&](const Part& part) {
      return part.id != kNoValue && !part.number && storage_of(part.inner) == inner;
    });
  }

  /// Nothing from before the loop that is still in use shares the memory: it would with no further round.
  void check_others(const SymbolicStorage* storage) {
    for (TraceId id = 0; id < outer_values_.size(); ++id) {
      const auto* t = std::get_if<Tensor>(&outer_values_[id]);
      if (!t || !t->defined() || made_.count(id) || storage_of(*t).get() != storage) continue;
      if (used_behind(id)) refuse("what a loop begins with is used behind it");
    }
  }

  bool used_behind(TraceId id) {
    if (!behind_) {
      behind_.emplace();
      const auto& records = r_.trace_.records;
      const auto here = std::find_if(records.begin(), records.end(), [&](const TraceRecord& r) {
        const auto* loop = std::get_if<LoopRecord>(&r.what);
        return loop && loop->body.get() == &body_;
      });
      // A loop inside another one: whatever there is may be used in a later round.
      each_id(here == records.end() ? std::span(records) : std::span(here + 1, records.end()),
              [&](TraceId used, bool) { behind_->insert(used); });
      for (const TraceRecord& r : records) {
        if (const auto* read = std::get_if<ReadGradRecord>(&r.what)) behind_->insert(read->result);
        if (const auto* write = std::get_if<WriteGradRecord>(&r.what)) behind_->insert(write->value);
      }
      behind_->insert(r_.trace_.outputs.begin(), r_.trace_.outputs.end());
    }
    return behind_->count(id) > 0;
  }

  // ---- the node ----

  /// The inputs of the step so far are state, then memory and numbers in the order in which they were met: memory that
  /// is written moves to the state.
  void leave() {
    std::vector<ValueId> operands, inputs;
    for (size_t i = 0; i < state_.size(); ++i) operands.push_back(state_[i].operand), inputs.push_back(step_.inputs[i]);
    const auto add = [&](ValueId operand, ValueId input) { operands.push_back(operand), inputs.push_back(input); };
    bool counts = false;
    std::vector<const NestedInputs::Memory*> written;
    for (const NestedInputs::Memory& m : taken_.memory()) {
      if (!m.inner->version) continue;
      add(m.operand, m.input);
      step_.outputs.push_back(m.inner->value);
      written.push_back(&m);
      counts |= m.inner->counted() > 0;
    }
    if (counts) add(outer_.value_of(*r_.exact(Scalar(int64_t{0}))), count_rounds());
    const size_t results = operands.size();
    for (const NestedInputs::Memory& m : taken_.memory())
      if (!m.inner->version) add(m.operand, m.input);
    for (const auto& [scalar, input] : taken_.scalars()) add(scalar, input);
    step_.inputs = std::move(inputs);
    step_.input_names.clear();

    const std::vector<ValueId> made = outer_.emit_while(operands, results, std::move(step_));
    for (const auto& l : body_.left) leave_with(l, made);
    const ValueId rounds = counts ? outer_.emit_item(outer_.whole(made.back(), Dims{}, 0), Scalar::Kind::Int) : kNoId;
    for (size_t i = 0; i < written.size(); ++i) {
      SymbolicStorage& storage = *written[i]->outer;
      storage.value = made[state_.size() + i];
      ++storage.version;
      const uint32_t each = written[i]->inner->counted();
      if (!each) {
        ++storage.uncounted;
        continue;
      }
      ++storage.looped;
      storage.rounds.emplace_back(rounds, each);
    }
  }

  ValueId count_rounds() {
    EmitterScope scope(inner_);
    static const Op* add = find_op("add");
    const GradMode off(false);
    const ValueId input = step_.add_input(ValueMeta::tensor(DType::I64, {}, {}));
    step_.outputs.push_back(inner_.value_of(*(*add)(inner_.whole(input, Dims{}, 0), int64_t{1})));
    return input;
  }

  void leave_with(const LoopBody::Left& l, const std::vector<ValueId>& made) {
    const auto part = std::find_if(state_.begin(), state_.end(), [&](const Part& p) { return p.id == l.inner; });
    if (part == state_.end()) return r_.set(l.outer, r_.value(l.inner));  // the same in all rounds
    const ValueId value = made[static_cast<size_t>(part - state_.begin())];
    if (part->number) {
      const ReplayValue& before = r_.value(l.inner);
      const auto* known = std::get_if<Scalar>(&before);
      const Scalar::Kind kind = known                                     ? known->kind()
                                : outer_.meta(value).dtype == DType::Bool ? Scalar::Kind::Bool
                                : outer_.meta(value).dtype == DType::I64  ? Scalar::Kind::Int
                                                                          : Scalar::Kind::Float;
      return r_.set(l.outer, outer_.number(outer_.emit_item(outer_.whole(value, Dims{}, 0), kind)));
    }
    const Tensor t = outer_.whole(value, part->outer.strides(), 0);
    storage_of(t)->version = storage_of(part->outer)->version;
    r_.set(l.outer, t);
  }

  SymbolicReplay& r_;
  const LoopBody& body_;
  GraphEmitter& outer_;
  Graph step_;
  GraphEmitter inner_;
  std::unordered_set<TraceId> made_;     ///< carried, or made in a round up to its exit
  std::unordered_set<TraceId> varying_;  ///< of these, known numbers that differ between rounds
  std::unordered_set<TraceId> left_;
  std::vector<TraceId> alive_, captured_;
  std::vector<TraceId> known_;  ///< numbers that are alive and the same in all rounds
  bool takes_gradients_ = false;
  std::vector<Part> state_;  ///< the first one says whether another round comes
  NestedInputs taken_;
  std::vector<ReplayValue> outer_values_;
  std::optional<std::unordered_set<TraceId>> behind_;
};

void SymbolicReplay::loop_by_value(const LoopBody& body) {
  or_refuse_the_loop([&] { LoopEmission(*this, body).run(); });
}

}  // namespace terra::graph
