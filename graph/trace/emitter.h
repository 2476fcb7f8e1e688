// Symbolic tensors, and the emitter that turns what is done to them into nodes.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "engine/ops/emitter.h"
#include "graph/ir/graph.h"

namespace terra::graph {

/// Memory that symbolic tensors share. `value` is what it holds at this point of the program, in the shape of the
/// tensor that was made with it.
struct SymbolicStorage {
  ValueId value = kNoId;
  uint32_t version = 0;    ///< number of writes
  uint32_t uncounted = 0;  ///< of them, those through x.data, which leave the versions of other tensors as they are
  uint32_t looped = 0;     ///< of the counted ones, those that stand for what the rounds of a loop write
  std::vector<std::pair<ValueId, uint32_t>> rounds;  ///< by such a loop: how many rounds came, and the writes in each
  int32_t input = -1;                                ///< graph input whose storage this is
  int32_t constant = -1;                             ///< constant whose storage this is; never written
  uint32_t views = 0;                                ///< symbols of it that are alive
  /// Other memory that the program has in place of this one where a run went a certain way. Neither is ever written:
  /// they are `fixed`.
  std::vector<std::shared_ptr<SymbolicStorage>> perhaps;
  bool fixed = false;
  /// The real memory's elements that `value` has in row-major order: so many from `first` on. Negative: they lie
  /// otherwise.
  int64_t first = 0, elements = -1;

  uint32_t counted() const { return version - uncounted; }
};

/// All that `storage` may be, itself first.
std::vector<std::shared_ptr<SymbolicStorage>> all_of(const std::shared_ptr<SymbolicStorage>& storage);

/// What a tensor made by x.data and its views have in place of the version of their storage.
struct OwnVersion {
  uint32_t writes = 0;
  bool in_rounds = false;             ///< there are more, as many as a loop has rounds
  std::shared_ptr<OwnVersion> outer;  ///< in the body of a loop: the one outside that it stands for
};

/// How a symbolic view is derived from its parent.
struct SymbolicView {
  const Op* op = nullptr;
  std::vector<NodeArg> attributes;  ///< the op's arguments from 1 on
  ValueMeta meta;                   ///< of the result
  std::shared_ptr<const SymbolicView> parent;
};

/// What a symbolic tensor stands for: a view of a symbolic storage, or a host scalar.
struct TensorSymbol final : Symbol {
  TensorSymbol(std::shared_ptr<SymbolicStorage> storage, std::shared_ptr<const SymbolicView> view);
  explicit TensorSymbol(ValueId scalar) : scalar(scalar) {}
  ~TensorSymbol() override;

  std::unique_ptr<Symbol> clone() const override;
  uint32_t version() const override {
    if (!storage) return 0;
    return own_version ? own_version->writes : storage->counted();
  }
  bool is_sole() const override { return !storage || storage->views == 1; }

  std::shared_ptr<SymbolicStorage> storage;
  std::shared_ptr<const SymbolicView> view;  ///< null: the whole storage
  ValueId scalar = kNoId;                    ///< a host scalar instead
  ValueId value = kNoId;                     ///< of the view (or the scalar as a tensor), true at `value_version`
  uint32_t value_version = 0;
  std::shared_ptr<OwnVersion> own_version;  ///< made by x.data, or a view of such a tensor
};

/// Builds one graph. Tensors that it made must not outlive it in use; they may be destroyed later.
class GraphEmitter final : public Emitter {
 public:
  explicit GraphEmitter(Graph& graph) : graph_(graph) {}

  void emit(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
            std::vector<Tensor>& results) override;
  void emit_write(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                  std::span<const Tensor> targets) override;

  /// From now on what no gradient passes (detach) is a node of its own, though it computes nothing: whoever plays the
  /// graph on a tape finds the histories that the program had.
  void keep_histories() { keeps_histories_ = true; }

  /// A tensor that is the whole of a storage: of graph input `input`, or of a value just made.
  Tensor whole(ValueId value, const Dims& strides, int64_t offset, int32_t input = -1);
  /// A view of `base`'s storage by as_strided; `offset` counts from the start of the real storage, `relative` of the
  /// value.
  Tensor strided(const Tensor& base, const TensorMeta& meta, const Dims& strides, int64_t offset, int64_t relative);
  /// What x.data gives.
  static Tensor uncounted(const Tensor& tensor);
  /// A host scalar as a 0-d tensor that promotes as Python numbers do.
  Tensor number(ValueId scalar);

  /// The value of a symbolic or real tensor now.
  ValueId value_of(const TensorImpl& tensor);
  /// The scalar value that a tensor made by `number` stands for, or kNoId.
  static ValueId scalar_of(const TensorImpl& tensor);
  static const TensorSymbol* symbol_of(const TensorImpl& tensor);
  /// What the memory of a tensor that was made inside holds now, if the tensor shows all of it in another order of
  /// dimensions; else kNoId.
  static ValueId memory_of(const TensorImpl& tensor);

  ValueId emit_item(const Tensor& tensor, Scalar::Kind kind);
  /// `numbered`: it is one of the trace's own, which are numbered in order.
  void emit_assert(const Tensor& tensor, bool expected, bool numbered);
  /// A loop that goes on while its first operand, a bool without dimensions, holds. The first `results` operands are
  /// replaced by the outputs of `step` in each round; they are what is returned.
  std::vector<ValueId> emit_while(const std::vector<ValueId>& operands, size_t results, Graph step);
  /// One of two graphs of the same inputs and outputs, by the truth of a bool without dimensions.
  std::vector<ValueId> emit_switch(ValueId truth, const std::vector<ValueId>& operands, Graph if_false, Graph if_true);

  /// A node that is no op, on values of the graph, with fresh results. In a chain it gets the next ticket.
  std::vector<ValueId> emit_node(Node node, const std::vector<ValueMeta>& results);

  /// Nodes made from now on come from this line.
  void set_origin(const std::string& file, int line);

  const ValueMeta& meta(ValueId id) const { return graph_.meta(id); }
  std::vector<Generator*> generators() const;
  uint32_t asserts() const { return asserts_; }

 private:
  Node& append(NodeKind kind);
  void order(Node& node);
  std::vector<NodeArg> node_args(const Op& op, std::span<const Arg> args);
  Node& append_call(const Op& op, std::span<const Arg> args, std::vector<NodeArg> converted);
  ValueId append_view(std::string_view op, ValueId of, IntList attribute, Dims sizes);
  ValueId permuted(ValueId value, const IntList& dims);
  void order_operands(const Op& op, std::vector<NodeArg>& args, const IntList& dims);
  void emit_laid_out(const Op& op, std::span<const Arg> args, std::span<const ResultMeta> metas,
                     std::vector<Tensor>& results);
  Tensor lying(ValueId value, const ResultMeta& meta, const IntList& back);
  NodeArg node_arg(ParamType type, const Arg& arg);
  std::vector<ResultMeta> host_metas(const Op& op, std::span<const Arg> args);
  std::shared_ptr<const SymbolicView> view_of_memory(const SymbolicStorage& storage, const ResultMeta& meta) const;
  void emit_view(const Op& op, std::span<const Arg> args, const ResultMeta& meta, std::vector<Tensor>& results);
  ValueId derive(const SymbolicStorage& storage, const std::shared_ptr<const SymbolicView>& view);
  void write(const Tensor& target, ValueId value);
  uint32_t chain_of(const Op& op, std::span<const Arg> args);
  ValueId constant(const TensorImpl& tensor);

  Graph& graph_;
  std::map<Generator*, uint32_t> chains_;
  std::map<const TensorImpl*, ValueId> constants_;
  std::map<ValueId, int32_t> constant_index_;
  std::vector<uint32_t> tickets_ = std::vector<uint32_t>(kFirstGeneratorChain, 0);
  bool keeps_histories_ = false;
  uint32_t asserts_ = 0;
  int32_t origin_ = -1;
};

}  // namespace terra::graph
