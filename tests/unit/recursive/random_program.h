// Recursive functions drawn at random: two that call themselves and each other on trees, with states that go up,
// tensors that go down, weights of which some are never read, and results that nobody needs. With items, what tensors
// hold chooses ways too.
#pragma once
#include <array>
#include <functional>
#include <memory>

#include "graph/ir/graph_table.h"
#include "graph/trace/emitter.h"
#include "tests/unit/recursive/tensors.h"
#include "tests/unit/recursive/trees.h"

namespace terra::recursive::test {

class RandomProgram {
 public:
  static constexpr int64_t kWidth = 3, kWords = 5;

  explicit RandomProgram(uint32_t seed, bool items = false) : random_(seed), items_(items) {
    for (const Dims& sizes : kWeights) weights.push_back(drawn(sizes, seed * 31 + weights.size()));
    for (auto& f : functions_) f = {draw(2), 1 + draw(2)};
    ids_ = {table->declare("f"), table->declare("g")};
    for (size_t k = 0; k < ids_.size(); ++k) table->define(ids_[k], function(k));
    for (size_t a = 0; a < functions_[0].arguments; ++a) arguments.push_back(drawn({kWidth}, seed * 57 + a));
  }

  std::shared_ptr<graph::GraphTable> table = std::make_shared<graph::GraphTable>();
  std::vector<Tensor> weights, arguments;  ///< operands of f behind the tree
  graph::GraphId root() const { return ids_[0]; }
  size_t results() const { return functions_[0].results; }

  size_t draw(size_t below) { return random_() % below; }

 private:
  using Graph = graph::Graph;
  using Vectors = std::vector<Tensor>;

  struct Signature {
    size_t arguments = 0, results = 1;
  };

  // A table of words, two matrices, vectors.
  inline static const std::vector<Dims> kWeights = {{kWords, kWidth}, {kWidth, kWidth}, {kWidth, kWidth},
                                                    {kWidth},         {kWidth},         {kWidth}};
  static graph::ValueMeta vector() { return graph::ValueMeta::tensor(DType::F64, {kWidth}, {}); }
  static graph::ValueMeta handle() { return {graph::ValueKind::Handle, DType::F32, {}, {}, {}}; }

  Graph function(size_t k) {
    Graph g = with_inputs(k, k == 0 ? "f" : "g");
    graph::GraphEmitter emitter(g);
    const graph::ValueId arity = host(emitter, kArity, g.inputs[0], graph::ValueMeta::number(Scalar::Kind::Int));
    graph::Node choice;
    choice.kind = graph::NodeKind::Switch;
    choice.args.push_back(graph::Use{arity});
    for (graph::ValueId id : g.inputs) choice.args.push_back(graph::Use{id});
    for (int children : {0, 1, 2, 0}) choice.bodies.push_back(std::make_shared<Graph>(branch(k, children)));
    g.outputs = emitter.emit_node(std::move(choice), std::vector<graph::ValueMeta>(functions_[k].results, vector()));
    return g;
  }

  Graph with_inputs(size_t k, const std::string& name) const {
    Graph g;
    g.name = name;
    g.add_input(handle());
    for (const Dims& sizes : kWeights) g.add_input(graph::ValueMeta::tensor(DType::F64, sizes, {}));
    for (size_t a = 0; a < functions_[k].arguments; ++a) g.add_input(vector());
    return g;
  }

  static graph::ValueId host(graph::GraphEmitter& emitter, uint32_t function, graph::ValueId tree,
                             const graph::ValueMeta& result) {
    graph::Node n;
    n.kind = graph::NodeKind::HostCall;
    n.index = function;
    n.chain = graph::kHostChain;
    n.args = {graph::Use{tree}};
    return emitter.emit_node(std::move(n), {result})[0];
  }

  Graph branch(size_t k, int children) {
    Graph g = with_inputs(k, std::to_string(children) + " children");
    graph::GraphEmitter emitter(g);
    const EmitterScope scope(emitter);
    const GradMode off(false);
    w_.clear();
    for (size_t i = 1; i < g.inputs.size(); ++i) w_.push_back(whole(emitter, g, g.inputs[i]));
    Vectors pool(w_.begin() + 3, w_.end());
    const graph::ValueId tree = g.inputs[0];
    if (draw(2)) pool.push_back(word(emitter, g, tree));
    if (draw(2))
      pool.push_back(op("mul", pick(pool),
                        emitter.number(host(emitter, kWeight, tree, graph::ValueMeta::number(Scalar::Kind::Float)))));
    if (children == 0 && draw(2)) pool.push_back(whole(emitter, g, host(emitter, kTensor, tree, vector())));
    grow(pool);
    for (int c = 0; c < children; ++c) {
      if (items_ && draw(2)) choose(emitter, g, k, children, 0, pool);
      call(emitter, g, tree, static_cast<uint32_t>(kChild0 + c), pool);
      grow(pool);
    }
    if (items_ && draw(3)) choose(emitter, g, k, children, 0, pool);
    for (size_t r = 0; r < functions_[k].results; ++r)
      g.outputs.push_back(emitter.value_of(*(draw(6) == 0 ? pick(pool) : op("tanh", recent(pool)))));
    return g;
  }

  /// One of two or three ways, by what a tensor holds; each gets all inputs of `g`, and one vector more.
  void choose(graph::GraphEmitter& emitter, const Graph& g, size_t k, int children, int depth, Vectors& pool) {
    const Tensor sum = op("sum", recent(pool));
    if (draw(4) == 0)
      pool.push_back(op("mul", pick(pool), emitter.number(emitter.emit_item(sum, Scalar::Kind::Float))));
    const bool two = draw(2);
    graph::Node choice;
    choice.kind = graph::NodeKind::Switch;
    choice.args.push_back(
        graph::Use{two ? emitter.emit_item(op("gt", sum, 0.0), Scalar::Kind::Bool)
                       : emitter.emit_item(op("to_dtype", op("mul", sum, 2.0), DType::I64), Scalar::Kind::Int)});
    for (graph::ValueId id : g.inputs) choice.args.push_back(graph::Use{id});
    choice.args.push_back(graph::Use{emitter.value_of(*recent(pool))});
    const std::vector<graph::ValueMeta> inputs = [&] {
      std::vector<graph::ValueMeta> metas;
      for (graph::ValueId id : g.inputs) metas.push_back(g.meta(id));
      metas.push_back(vector());
      return metas;
    }();
    const Vectors outer = w_;
    for (int way = 0; way < (two ? 2 : 3); ++way)
      choice.bodies.push_back(std::make_shared<Graph>(way_of(inputs, k, children, depth)));
    w_ = outer;
    pool.push_back(whole(emitter, g, emitter.emit_node(std::move(choice), {vector()})[0]));
  }

  Graph way_of(const std::vector<graph::ValueMeta>& inputs, size_t k, int children, int depth) {
    Graph g;
    g.name = "way";
    for (const graph::ValueMeta& meta : inputs) g.add_input(meta);
    graph::GraphEmitter emitter(g);
    const EmitterScope scope(emitter);
    w_.clear();
    for (size_t i = 1; i < g.inputs.size(); ++i) w_.push_back(whole(emitter, g, g.inputs[i]));
    Vectors pool(w_.begin() + 3, w_.end());
    if (draw(2)) grow(pool);
    if (children > 0 && draw(2))
      call(emitter, g, g.inputs[0], static_cast<uint32_t>(kChild0 + draw(static_cast<size_t>(children))), pool);
    if (depth < 2 && draw(4) == 0) choose(emitter, g, k, children, depth + 1, pool);
    if (draw(2)) grow(pool);
    g.outputs.push_back(emitter.value_of(*(draw(4) == 0 ? pick(pool) : op("tanh", recent(pool)))));
    return g;
  }

  static Tensor whole(graph::GraphEmitter& emitter, const Graph& g, graph::ValueId id) {
    return emitter.whole(id, contiguous_strides(g.meta(id).sizes), 0);
  }

  Tensor word(graph::GraphEmitter& emitter, const Graph& g, graph::ValueId tree) const {
    graph::Node n;
    n.kind = graph::NodeKind::AsTensor;
    n.args = {graph::Use{host(emitter, kWord, tree, graph::ValueMeta::number(Scalar::Kind::Int))}};
    const graph::ValueId id = emitter.emit_node(std::move(n), {graph::ValueMeta::tensor(DType::I64, {}, {})})[0];
    const Tensor index = op("reshape", whole(emitter, g, id), Dims{1});
    return op("reshape", op("index_select", w_[0], 0, index), Dims{kWidth});
  }

  void call(graph::GraphEmitter& emitter, const Graph& g, graph::ValueId tree, uint32_t child, Vectors& pool) {
    const size_t callee = draw(functions_.size());
    graph::Node n;
    n.kind = graph::NodeKind::Call;
    n.index = ids_[callee];
    n.chain = graph::kHostChain;  // it reads the structure
    n.args.push_back(graph::Use{host(emitter, child, tree, handle())});
    for (size_t i = 0; i < kWeights.size(); ++i) n.args.push_back(graph::Use{emitter.value_of(*w_[i])});
    for (size_t a = 0; a < functions_[callee].arguments; ++a)
      n.args.push_back(graph::Use{emitter.value_of(*recent(pool))});
    for (graph::ValueId r :
         emitter.emit_node(std::move(n), std::vector<graph::ValueMeta>(functions_[callee].results, vector())))
      pool.push_back(whole(emitter, g, r));
  }

  const Tensor& pick(const Vectors& pool) { return pool[draw(pool.size())]; }
  const Tensor& recent(const Vectors& pool) {
    return draw(2) ? pool[pool.size() - 1 - draw(std::min<size_t>(3, pool.size()))] : pick(pool);
  }

  void grow(Vectors& pool) {
    for (size_t n = 1 + draw(4); n-- > 0;) pool.push_back(vector_of(recent(pool), pick(pool)));
  }

  /// A vector made of two.
  Tensor vector_of(const Tensor& x, const Tensor& y) {
    const Tensor& matrix = w_[1 + draw(2)];
    const auto row = [](const Tensor& t) { return op("unsqueeze", t, 0); };
    const auto both = [&](int64_t dim) { return op("stack", std::vector<Tensor>{x, y}, dim); };
    const std::function<Tensor()> ways[] = {
        [&] { return op("tanh", x); },
        [&] { return op("sigmoid", x); },
        [&] { return op("relu", x); },
        [&] { return op("sqrt", op("relu", x)); },
        [&] { return op("exp", op("minimum", x, 1.0)); },
        [&] { return op("add", x, y); },
        [&] { return op("sub", x, y); },
        [&] { return op("mul", x, y); },
        [&] { return op("maximum", x, y); },
        [&] { return op("where", op("gt", x, 0.0), x, y); },
        [&] { return op("true_divide", x, op("add", op("abs", y), 1.0)); },
        [&] { return op("squeeze", op("mm", row(x), matrix), Dims{0}); },
        [&] { return op("squeeze", op("addmm", y, row(x), matrix), Dims{0}); },
        [&] { return op("linear", x, matrix, y); },
        [&] { return op("squeeze", op("mm", matrix, op("unsqueeze", x, 1)), Dims{1}); },
        [&] { return op("mul", y, op("sum", x)); },
        [&] { return op("sub", x, op("mean", x, Dims{0}, true)); },
        [&] { return op("mul", x, op("amax", y, Dims{0})); },
        [&] { return find_op("sort")->all(x, 0)[0]; },
        [&] { return op("add", x, find_op("max_with_index")->all(both(1), 1, false)[0]); },
        [&] { return op("flip", x, Dims{0}); },
        [&] { return op("softmax", x, 0); },
        [&] { return op("log_softmax", both(0), 1); },
        [&] {
          return op("narrow", op("cat", std::vector<Tensor>{x, y}, 0), 0, 2, kWidth);
        },
        [&] { return op("select", both(1), 1, 1); },
        [&] { return op("sum", op("mul", op("unsqueeze", x, 1), row(y)), Dims{1}); },
        [&] { return op("cumsum", x, 0); },
        [&] { return op("layer_norm", x, Dims{kWidth}, w_[3], w_[4]); },
        [&] { return op("detach", x); },
        [&] { return op("mul", op("expand", op("narrow", x, 0, 0, 1), Dims{kWidth}), y); },
        [&] { return op("full", Dims{kWidth}, 0.5, DType::F64); },
        [&] { return op("gather", x, 0, op("argsort", y, 0)); },
    };
    const Tensor made = ways[draw(std::size(ways))]();
    return made.rank() == 1 ? made : op("select", made, 0, 0);
  }

  std::mt19937 random_;
  const bool items_;
  std::array<Signature, 2> functions_;
  std::array<graph::GraphId, 2> ids_;
  Vectors w_;  // weights and arguments of the body that is written
};

}  // namespace terra::recursive::test
