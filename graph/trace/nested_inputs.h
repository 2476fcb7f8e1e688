// What a nested graph that a loop or a branch becomes takes from the graph around it: memory, and numbers.
#pragma once
#include <unordered_map>
#include <vector>

#include "engine/errors/errors.h"
#include "graph/trace/symbolic_replay.h"

namespace terra::graph {

/// Makes a nested graph: what can't be expressed in it may still be, round by round.
template <class F>
void or_refuse_the_loop(F make) {
  try {
    make();
  } catch (const LoopRefused&) {
    throw;
  } catch (const InternalError& e) {
    throw LoopRefused(e.what());
  } catch (const Error& e) {
    throw LoopRefused(e.what());
  }
}

class NestedInputs {
 public:
  /// Memory that the nested graph looks at, or writes.
  struct Memory {
    std::shared_ptr<SymbolicStorage> outer, inner;
    ValueId operand;
    ValueId input;
  };

  NestedInputs(SymbolicReplay& replay, GraphEmitter& outer, Graph& body, GraphEmitter& inner)
      : r_(replay), outer_(outer), body_(body), inner_(inner) {}
  /// Inside, gradients are asked for.
  void will_take_gradients() { takes_gradients_ = true; }

  /// The value with that number becomes what stands for it inside; each bind may add inputs to the graph.
  void bind(TraceId id);

  /// In the order of their inputs, numbers aside.
  const std::vector<Memory>& memory() const { return memory_; }
  /// Outside and inside.
  const std::vector<std::pair<ValueId, ValueId>>& scalars() const { return scalars_; }
  /// What the inputs stand for, in order.
  const std::vector<ValueId>& operands() const { return operands_; }

  const Memory* find_outer(const SymbolicStorage* storage) const { return find(&Memory::outer, storage); }
  const Memory* find_inner(const SymbolicStorage* storage) const { return find(&Memory::inner, storage); }
  /// Throws LoopRefused where a pass over the tape inside has left gradients outside, or where memory is written that
  /// another tensor may be as well.
  void check() const;

 private:
  const Memory* find(std::shared_ptr<SymbolicStorage> Memory::*side, const SymbolicStorage* storage) const;
  Tensor stand_in(const Tensor& t);
  std::shared_ptr<SymbolicStorage> memory_of(const std::shared_ptr<SymbolicStorage>& outer);

  SymbolicReplay& r_;
  GraphEmitter& outer_;
  Graph& body_;
  GraphEmitter& inner_;
  bool takes_gradients_ = false;
  std::vector<Memory> memory_;
  std::vector<std::pair<ValueId, ValueId>> scalars_;
  std::vector<ValueId> operands_;
  std::unordered_map<const TensorImpl*, Tensor> stand_ins_;
  std::unordered_map<const OwnVersion*, std::shared_ptr<OwnVersion>> own_versions_;
};

std::shared_ptr<SymbolicStorage> storage_of(const Tensor& t);
/// The whole of memory that was made inside.
bool is_alone(const Tensor& t);

}  // namespace terra::graph
