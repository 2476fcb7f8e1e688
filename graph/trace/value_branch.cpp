// Branches inside of loops, as `switch` nodes: only the way that a run goes is computed.
//
// What the ways leave different are the results of the node, values in memory of their own. A way that leaves a tensor
// as it was hands on its elements, and the memory that the program has there is noted (SymbolicStorage::perhaps):
// nobody writes it, and where somebody could see that it is shared, the branch is refused.
#include <unordered_set>

#include "engine/errors/errors.h"
#include "graph/trace/ids.h"
#include "graph/trace/nested_inputs.h"

namespace terra::graph {

class BranchEmission {
 public:
  BranchEmission(SymbolicReplay& replay, const BranchRecord& branch)
      : r_(replay), branch_(branch), body_(*branch.body), outer_(*replay.emitter_) {}

  void run() {
    const ValueId truth = outer_.value_of(*r_.truth(r_.value(branch_.truth)));
    find_ids();
    ++r_.bodies_;
    for (bool way : {false, true}) emit(ways_[way], way);
    --r_.bodies_;
    for (size_t i = 0; i < body_.results.size(); ++i) join(i);
    const std::vector<ValueId> made =
        outer_.emit_switch(truth, ways_[0].taken.operands(), std::move(ways_[0].graph), std::move(ways_[1].graph));
    for (size_t i = 0; i < joined_.size(); ++i) leave(joined_[i], made[i]);
  }

 private:
  /// What a way has made of a result.
  struct Left {
    ReplayValue value;
    bool number = false;
    uint32_t version = 0;
    std::vector<std::shared_ptr<SymbolicStorage>> around;  ///< memory around the branch that it may still be in
  };
  struct Way {
    Way(SymbolicReplay& replay, GraphEmitter& outer) : emitter(graph), taken(replay, outer, graph, emitter) {}

    Graph graph;
    GraphEmitter emitter;
    NestedInputs taken;
    std::vector<Left> left;
    std::unordered_set<const SymbolicStorage*> handed_on;  ///< memory made inside
  };

  void find_ids() {
    std::unordered_set<TraceId> met, made;
    EachId each([&](TraceId& id, bool defines) {
      if (id == kNoValue || !met.insert(id).second) return;
      if (defines) made.insert(id);
      ids_.push_back(id);
    });
    for (const auto& way : body_.ways)
      for (const TraceRecord& r : way) each(const_cast<TraceRecord&>(r));  // the visitor changes nothing
    for (const auto& result : body_.results)
      for (TraceId id : result.of)
        if (met.insert(id).second) ids_.push_back(id);
    for (TraceId id : ids_)
      if (!made.count(id)) captured_.push_back(id);
  }

  void emit(Way& way, bool truth) {
    const std::vector<ReplayValue> before = r_.values_of(ids_);
    {
      EmitterScope scope(way.emitter);
      GraphEmitter* const around = std::exchange(r_.emitter_, &way.emitter);
      try {
        way.graph.name = truth ? "if true" : "if false";
        for (TraceId id : captured_) way.taken.bind(id);
        r_.play(body_.ways[truth]);
        for (const auto& result : body_.results) way.left.push_back(left(way, r_.value(result.of[truth])));
      } catch (...) {
        r_.emitter_ = around;
        throw;
      }
      r_.emitter_ = around;
    }
    if (!way.emitter.generators().empty()) throw LoopRefused("a branch in a loop draws random numbers");
    way.taken.check();
    for (const NestedInputs::Memory& m : way.taken.memory())
      if (m.inner->version) throw LoopRefused("a branch in a loop writes into a tensor that was there before it");
    for (size_t i = 0; i < ids_.size(); ++i) r_.set(ids_[i], before[i]);
  }

  /// No value where no graph can hand it on.
  Left left(Way& way, const ReplayValue& value) {
    if (r_.is_number(value)) return {r_.exact(value), true, 0, {}};
    const auto* t = std::get_if<Tensor>(&value);
    const auto storage = t && t->defined() ? storage_of(*t) : nullptr;
    if (!storage || t->requires_grad()) return {};
    Left left{value, false, storage->version, {}};
    for (const auto& may : all_of(storage)) {
      if (may->constant >= 0) return {};
      if (const NestedInputs::Memory* memory = way.taken.find_inner(may.get())) {
        left.around.push_back(memory->outer);
        if (may == storage) left.version = memory->outer->version;
      } else if ((may == storage && !is_alone(*t)) || !way.handed_on.insert(may.get()).second) {
        return {};
      }
    }
    return left;
  }

  /// One of the results: what both ways have left of one kind.
  void join(size_t result) {
    Left &a = ways_[0].left[result], &b = ways_[1].left[result];
    const auto *s = std::get_if<Tensor>(&a.value), *t = std::get_if<Tensor>(&b.value);
    const TraceId outer = body_.results[result].outer;
    r_.set(outer, {});
    if (!s || !t || a.number != b.number || s->dtype() != t->dtype() || s->sizes() != t->sizes()) return;
    const bool alike = s->strides() == t->strides() && (*s)->offset == (*t)->offset &&
                       (*s)->wrapped_number == (*t)->wrapped_number && a.version == b.version;
    if (!a.number && !alike) return;
    for (Way& way : ways_) {
      EmitterScope scope(way.emitter);
      way.graph.outputs.push_back(way.emitter.value_of(*std::get<Tensor>(way.left[result].value)));
    }
    joined_.push_back(result);
  }

  void leave(size_t result, ValueId made) {
    const Left &a = ways_[0].left[result], &b = ways_[1].left[result];
    const Tensor& t = std::get<Tensor>(a.value);
    const TraceId outer = body_.results[result].outer;
    if (a.number) {
      const DType dtype = t.dtype();
      const auto kind = dtype == DType::Bool  ? Scalar::Kind::Bool
                        : dtype == DType::I64 ? Scalar::Kind::Int
                                              : Scalar::Kind::Float;
      return r_.set(outer, outer_.number(outer_.emit_item(outer_.whole(made, Dims{}, 0), kind)));
    }
    const Tensor out = outer_.whole(made, t.strides(), t->offset);
    out->wrapped_number = t->wrapped_number;
    const auto storage = storage_of(out);
    storage->version = a.version;
    for (const Left* left : {&a, &b}) {
      for (const auto& memory : left->around) {
        storage->perhaps.push_back(memory);
        storage->fixed = memory->fixed = true;
      }
    }
    r_.set(outer, out);
  }

  SymbolicReplay& r_;
  const BranchRecord& branch_;
  const BranchBody& body_;
  GraphEmitter& outer_;
  std::vector<TraceId> ids_, captured_;  ///< that the ways mention; those from around them
  Way ways_[2] = {{r_, outer_}, {r_, outer_}};
  std::vector<size_t> joined_;  ///< results that there are
};

void SymbolicReplay::branch_by_value(const BranchRecord& branch) {
  or_refuse_the_loop([&] { BranchEmission(*this, branch).run(); });
}

}  // namespace terra::graph
