// A captured graph whose runs may be put off until somebody asks for what they make.
//
//   def join(l, r):                          join(a, b), join(c, d): two runs of one graph, which nobody has asked
//       return tanh(W(cat([l, r])))          for yet: one run for two rows
//
// That needs a graph which does nothing but compute new tensors from its inputs: whatever a program could see of a run
// besides is either known before it (sizes, what requires grad, whether the values of indices will be refused), or done
// before it (random numbers are drawn when the run is put off: `dropout(h)` needs the sizes of h for that, no bytes),
// or keeps the graph from being put off.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "graph/trace/program.h"
#include "graph/trace/trace.h"
#include "recursive/batching/stages.h"
#include "recursive/deferral/width_account.h"

namespace terra::recursive {

class DeferredGraph {
 public:
  /// Of a trace, for the sizes of those inputs (the trace's own if null). Throws Unbatchable for a trace that does more
  /// than compute.
  DeferredGraph(const graph::Trace& trace, std::shared_ptr<const std::vector<graph::TraceInput>> inputs);

  /// An input of the graph: tensor or number so-and-so of a run. Tensors that are drawn for it come behind those that
  /// it brings.
  struct Input {
    bool is_tensor = true;
    bool is_drawn = false;
    uint32_t number = 0;
    bool requires_grad = false;
    graph::ValueMeta meta;
  };
  const std::vector<Input>& inputs() const { return inputs_; }

  /// What a run gives its caller, in order.
  struct Result {
    enum class Kind : uint8_t {
      Made,    ///< output `index` of the graph
      Input,   ///< tensor `index` of the run's inputs
      Number,  ///< a number that is known
    };
    Kind kind = Kind::Made;
    uint32_t index = 0;
    Scalar number;
  };
  const std::vector<Result>& results() const { return results_; }

  /// What it makes.
  struct Output {
    TensorMeta meta;
    Dims strides;
    size_t bytes = 0;
    bool requires_grad = false;
  };
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::string& name() const { return of_.name; }
  bool has_gradients() const { return wanted_.any(); }

  /// How the calls of a schedule get an input: Host: each has its own, known before any of them runs; Shared: all have
  /// the same; Row: each has what another one of them makes.
  using Kinds = std::vector<InputKind>;
  struct Compiled {
    StagedPath path;
    std::vector<std::vector<uint32_t>> flow;  ///< by input: outputs from which gradients flow to it
    uint64_t runs = 0;                        ///< of batches
  };
  /// For calls that get their inputs so.
  Compiled& compiled(const Kinds& kinds);

  /// Computes one call op by op, on the tape where gradients are enabled. By input: a tensor, or a number.
  std::vector<Tensor> play(std::span<const Tensor> tensors, std::span<const Scalar> numbers) const;

  /// Asks the ops that may refuse values, such as indices. Throws Error where one does; false: what it would be asked
  /// about is still to be made.
  bool check_values(LentTensors tensors, std::span<const Scalar> numbers);

  bool draws() const { return !draws_.empty(); }
  /// Draws the random numbers of a run, in the order of the graph.
  std::vector<Tensor> draw(std::span<const Scalar> numbers) const;

  /// Why its calls run one at a time; empty if they don't.
  std::string why_one_by_one() const;

  /// So many have run, in so many batches.
  void count(uint64_t ran, uint64_t in_batches) {
    calls += ran;
    batches += in_batches;
    width.add(ran, in_batches);
  }
  // How many have run, in how many batches.
  uint64_t calls = 0, batches = 0;
  WidthAccount width;
  bool wrong = false;  ///< a batch came out otherwise than its calls: they don't wait any more

 private:
  void take_inputs(const graph::Program& program, bool grad_enabled, const std::vector<graph::TraceInput>& inputs);
  void take_draws(graph::Graph& graph, size_t tensors);
  void take_results(const graph::Program& program, bool inference);
  void find_histories();
  void find_checks();

  /// A tensor that is there for its sizes: nobody looks at its elements.
  using StandIn = std::pair<graph::ValueId, Tensor>;
  /// An op that may refuse values, and the nodes before it on which the values depend.
  struct Check {
    std::vector<uint32_t> nodes;   ///< in order; the op's own is the last
    std::vector<uint32_t> inputs;  ///< that these read
    std::vector<StandIn> any;      ///< operands whose values don't matter
    bool by_numbers = true;        ///< what it says depends on numbers alone, and sizes
    /// Such numbers (key_of): `words(torch.tensor([node.word]))` asks about each word once.
    std::unordered_set<std::string> admitted;
  };
  std::string key_of(const Check& check, std::span<const Scalar> numbers) const;
  static constexpr size_t kMostAdmitted = 1 << 16;

  SubGraph of_;  ///< with one path, that calls nothing
  std::vector<Input> inputs_;
  std::vector<Result> results_;
  std::vector<Output> outputs_;
  Wanted wanted_;
  std::vector<Check> checks_;
  std::vector<graph::Node> draws_;   ///< nodes whose results are inputs
  std::vector<StandIn> drawn_like_;  ///< their operands
  std::map<Kinds, std::unique_ptr<Compiled>> compiled_;
};

/// The graphs of a trace, one for each set of sizes and structural numbers that runs come with.
class DeferredGraphs {
 public:
  explicit DeferredGraphs(graph::Trace trace) : trace_(std::move(trace)) {}

  /// Null where its runs can't be put off: the first reason why is in refusal().
  const std::shared_ptr<DeferredGraph>& of(LentTensors tensors, std::span<const Scalar> numbers);
  const std::string& refusal() const { return refusal_; }
  /// How its runs have been put off, in words; empty where nobody has asked for that.
  std::string summary() const;

 private:
  bool read_key(LentTensors tensors, std::span<const Scalar> numbers);

  static constexpr size_t kMost = 64;

  const graph::Trace trace_;
  std::vector<int64_t> key_;  ///< of the last run
  bool made_any_ = false;
  std::map<std::vector<int64_t>, std::shared_ptr<DeferredGraph>> made_;
  const std::shared_ptr<DeferredGraph>* last_ = nullptr;
  std::string refusal_;
};

}  // namespace terra::recursive
