// A graph with its surroundings: how its inputs are found in the program's tensors, and what a run publishes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/autograd/meta.h"
#include "graph/ir/graph.h"
#include "graph/trace/trace.h"

namespace terra::graph {

/// How a graph input is found at run time.
struct InputBinding {
  enum class Kind : uint8_t { Tensor, Scalar, Tangent };
  Kind kind = Kind::Tensor;
  /// Tensor: in Compiled::run's tensors; Scalar: in its scalars; Tangent: which root
  uint32_t index = 0;
  int64_t offset = 0;       ///< Tensor: elements from the start of the tensor's storage
  Dims strides;             ///< Tensor: of the value's elements
  bool own_offset = false;  ///< Tensor: the offset is whatever the run's tensor has
};

/// Writes in the rounds of a loop, which eager execution would have counted one by one: `each` in a round, of which
/// there were as many as scalar graph output `output` says.
struct LoopedWrites {
  uint32_t output = 0;
  uint32_t each = 1;
};

/// The storage behind an input was written: `output` of the graph is its new value, arranged as the input binding says.
struct StorageWrite {
  uint32_t input = 0;     ///< graph input
  uint32_t output = 0;    ///< graph output
  uint32_t versions = 1;  ///< how often eager execution would have bumped the version, loops aside
  std::vector<LoopedWrites> looped = {};
};

/// A tensor that the program sees after a run.
struct TensorSpec {
  enum class Source : uint8_t {
    Input,         ///< tensor number `index` of the run's inputs itself
    InputStorage,  ///< a view of the storage of that tensor
    Fresh,         ///< a view of a storage that the run makes, holding graph output `index`
    Constant,      ///< constant number `index` of the graph, or a view of it
  };
  Source source = Source::Fresh;
  uint32_t index = 0;
  DType dtype = DType::F32;
  Dims sizes, strides;
  int64_t offset = 0;
  bool from_input_offset = false;   ///< InputStorage: `offset` counts from the offset of that tensor
  bool leaf_requires_grad = false;  ///< a fresh leaf of which gradients were asked for
  bool retains_grad = false;        ///< a computed one that keeps its gradient
  bool is_inference = false;        ///< Fresh: made in inference mode
  uint32_t versions = 0;            ///< Fresh: how often its storage was written inside, loops aside
  std::vector<LoopedWrites> looped = {};
  int32_t apart = -1;  ///< what x.data gave, by number: it and its views have a version of their own
  uint32_t apart_versions = 0;
  bool spent = false;              ///< its backward has run inside: it has a history, but no second backward
  std::string grad_fn;             ///< of spent ones: the name of the op's own node
  std::vector<uint32_t> leads_to;  ///< of spent ones: the tensors of the run's inputs that its history leads to
  /// How it was derived from spec `base`, which the program sees as well: writes to either change both histories.
  std::shared_ptr<const autograd::ViewStep> view;
  uint32_t base = 0;
};

struct ResultSpec {
  enum class Kind : uint8_t { Tensor, Scalar, None, Known };
  Kind kind = Kind::Tensor;
  uint32_t index = 0;   ///< Tensor: spec; Scalar: graph output
  terra::Scalar known;  ///< Known: a number that the program was built with or that follows from its sizes
};

/// `.grad` of a tensor after the run.
struct GradWrite {
  uint32_t tensor = 0;  ///< tensor spec
  int32_t grad = -1;    ///< tensor spec, or -1: None
};

/// requires_grad of an input after the run, where it changed.
struct FlagWrite {
  uint32_t input = 0;  ///< tensor number
  bool requires_grad = false;
};

/// A tensor of a replay: a value of the trace, or what that is a view of.
struct ReplayTensor {
  TraceId value = kNoValue;
  bool is_base = false;
  auto operator<=>(const ReplayTensor&) const = default;
};

/// What a pass over the tape of the region can begin at.
struct ProgramRoot {
  static constexpr uint32_t kInside = ~0u;
  uint32_t spec =
      kInside;  ///< tensor spec of the result; kInside: a value that only later parts of the region ask about
  uint32_t part = 0;
  uint32_t place = 0;  ///< among the roots of the part
  TensorMeta meta;
  std::string grad_fn;  ///< the name of the op's own node
  ReplayTensor tensor;  ///< which it is; kNoValue: one that a round of a loop has replaced
};

/// Where a part of the region hands a gradient on.
struct GradientTarget {
  enum class Kind : uint8_t {
    Input,     ///< tensor number `index` of the run's inputs
    Root,      ///< root number `index`, which an earlier part has
    Function,  ///< tensor spec `index`, of what a function of the program made: to that function's node
  };
  Kind kind = Kind::Input;
  uint32_t index = 0;
};

/// Memory that calls have saved and that others see after the run: whoever writes it before the gradient passes the
/// calls gets the error that eager execution raises.
struct SavedMemory {
  enum class Kind : uint8_t {
    Input,  ///< the storage of tensor number `index` of the run's inputs
    Fresh,  ///< the storage of graph output `index`
    Apart,  ///< what x.data gave, by number
  };
  Kind kind = Kind::Fresh;
  uint32_t index = 0;
  TensorMeta meta;     ///< of the tensor that was saved
  std::string maker;   ///< name of the node that it is a result of; empty where it came in
  uint32_t place = 0;  ///< among the results of that node
};

/// Calls of a part that have saved something, which the first gradient to pass them frees: those that the same
/// gradients pass.
struct SavingCalls {
  std::vector<bool> roots;    ///< of the part: whose gradients pass
  std::vector<bool> targets;  ///< of the part: on the way to which
  std::vector<SavedMemory> memory;
};

/// The ways of gradients through a part.
struct PartWays {
  std::vector<std::vector<bool>> leads;  ///< by root: to which targets
  std::vector<SavingCalls> saving;
  /// By root and target: how many calls a pass has behind it when the last gradient comes to the target; 0: none does.
  std::vector<std::vector<uint32_t>> calls_before;
};

/// What one node of the tape stands for (graph/trace/parts.h). Gradients for the roots of later parts come first.
struct ProgramPart {
  std::vector<uint32_t> roots;  ///< in the order in which they were computed
  size_t first = 0;             ///< number of the record that it begins with (Trace::number_of)
  std::vector<GradientTarget> targets;
  PartWays ways;
};

/// Graph outputs stand in this order: fresh storages, scalars and storage writes as the specs number them; then the
/// gradients of a joint program, one for each of `gradients`: in exact mode their addends, in the order of the sum.
struct Program {
  Graph graph;
  std::vector<InputBinding> inputs;  ///< one per graph input
  std::vector<TensorSpec> tensors;
  std::vector<ResultSpec> results;  ///< one per Trace::outputs
  std::vector<StorageWrite> writes;
  std::vector<GradWrite> grads;
  std::vector<FlagWrite> flags;
  std::vector<Generator*> generators;  ///< drawn from; null is the default one
  uint32_t asserts = 0;
  std::vector<std::optional<std::vector<ValueId>>>
      cuts;  ///< by assert, where asked for: the values of its mark, where they are all of what it means; kNoId: none
  size_t calls = 0;  ///< user-level calls

  // Joint programs: tangent inputs are the last graph inputs, gradients the last graph outputs.
  struct Gradient {
    uint32_t part = 0, target = 0;
    Dims sizes, strides;  ///< of the gradient, in memory that holds the graph output row by row
  };
  /// Made by a function of the program, which comes behind the part.
  struct FunctionResult {
    uint32_t spec = 0, part = 0;
    TraceId value = kNoValue;  ///< of the trace
  };
  std::vector<ProgramRoot> roots;
  std::vector<ProgramPart> parts;
  std::vector<FunctionResult> functions;
  std::vector<Gradient> gradients;  ///< what each gradient is of
  uint32_t first_gradient = 0;      ///< graph output
};

}  // namespace terra::graph
