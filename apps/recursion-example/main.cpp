// A TreeRNN by hand, without Python: it learns whether a word occurs anywhere in a tree.
//
//   encode(node) = tanh(words[node.word])                                      for a leaf
//                  tanh([encode(node.left), encode(node.right)] @ join + bias)  else
//
// The function is written once, as a SubGraph that invokes itself. Recursion runs it for all nodes of all trees of a
// batch level by level: one matrix product for each level of the forest, one for each weight's gradient.
#include <cstdio>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/ops/call.h"
#include "recursive/ir/invoke_op.h"
#include "recursive/runtime/recursion.h"

using namespace terra;

namespace {

constexpr int64_t kWords = 10, kWidth = 16;
constexpr double kLearningRate = 0.5;
constexpr int kSteps = 150, kBatch = 25;

/// The program's own structure: children by their index, -1 in leaves.
struct Node {
  int64_t word = 0, left = -1, right = -1;
};
struct Tree {
  std::vector<Node> nodes;
  int64_t root = 0;
  bool has_word = false;  ///< number 0
};

std::mt19937 random_numbers(1);

/// Adds a tree of so many leaves to `tree`; returns the index of its root.
int64_t grow(Tree& tree, int leaves) {
  Node node;
  if (leaves == 1) {
    node.word = static_cast<int64_t>(random_numbers() % kWords);
    tree.has_word |= node.word == 0;
  } else {
    const int left = 1 + static_cast<int>(random_numbers() % static_cast<unsigned>(leaves - 1));
    node.left = grow(tree, left);
    node.right = grow(tree, leaves - left);
  }
  tree.nodes.push_back(node);
  return static_cast<int64_t>(tree.nodes.size()) - 1;
}

std::vector<Tree> draw_trees(int count) {
  std::vector<Tree> trees(static_cast<size_t>(count));
  for (Tree& tree : trees) tree.root = grow(tree, 2 + static_cast<int>(random_numbers() % 10));
  return trees;
}

template <class... A>
Tensor op(std::string_view name, A&&... args) {
  return (*find_op(name))(std::forward<A>(args)...);
}

Tensor weight(Dims sizes) {
  Tensor t = Tensor::empty(sizes, DType::F32);
  std::normal_distribution<float> normal(0, 0.3f);
  for (int64_t i = 0; i < t.numel(); ++i) t->data_as<float>()[i] = normal(random_numbers);
  autograd::set_requires_grad(t, true);
  return t;
}

/// How a call reads the structure: a node is its tree and its index there.
const HostRead<bool(const Tree*, int64_t)> is_leaf("is_leaf",
                                                   [](const Tree* t, int64_t n) { return t->nodes[n].left < 0; });
const HostRead<int64_t(const Tree*, int64_t)> word("word", [](const Tree* t, int64_t n) { return t->nodes[n].word; });
const HostRead<int64_t(const Tree*, int64_t)> left("left", [](const Tree* t, int64_t n) { return t->nodes[n].left; });
const HostRead<int64_t(const Tree*, int64_t)> right("right",
                                                    [](const Tree* t, int64_t n) { return t->nodes[n].right; });

class Model {
 public:
  Model() : encode_("encode") {
    const HostSymbol tree = encode_.handle("tree"), node = encode_.number(Scalar::Kind::Int, "node");
    encode_.output(DType::F32, {1, kWidth});
    encode_.define([&] {
      const auto leaf = [&] {
        const Tensor index = op("reshape", word(tree, node).as_tensor(), Dims{1});
        return std::vector{op("tanh", op("index_select", words_, 0, index))};
      };
      const auto inner = [&] {
        const InvokeOp encode(encode_);
        const Tensor l = encode(tree, left(tree, node))[0], r = encode(tree, right(tree, node))[0];
        return std::vector{op("tanh", op("addmm", bias_, op("cat", std::vector{l, r}, 1), join_))};
      };
      return cond(is_leaf(tree, node), leaf, inner);
    });
    recursion_ = recursive::Recursion::make(encode_);
  }

  /// One score for each tree: positive where the word is thought to occur.
  Tensor operator()(const std::vector<Tree>& trees) const {
    std::vector<std::vector<graph::HostValue>> operands;
    for (const Tree& t : trees) operands.push_back({graph::Handle(const_cast<Tree*>(&t)), Scalar(t.root)});
    std::vector<Tensor> codes;
    for (const auto& results : recursion_->invoke_all(operands)) codes.push_back(results[0]);
    return op("reshape", op("mm", op("cat", codes, 0), score_), Dims{-1});
  }

  std::vector<Tensor> weights() const { return {words_, join_, bias_, score_}; }
  const SubGraph& encode() const { return encode_; }

 private:
  Tensor words_ = weight({kWords, kWidth}), join_ = weight({2 * kWidth, kWidth}), bias_ = weight({1, kWidth}),
         score_ = weight({kWidth, 1});
  SubGraph encode_;
  std::shared_ptr<recursive::Recursion> recursion_;
};

/// 1 where the word occurs, else -1.
Tensor targets(const std::vector<Tree>& trees) {
  Tensor t = Tensor::empty(Dims{static_cast<int64_t>(trees.size())}, DType::F32);
  for (size_t i = 0; i < trees.size(); ++i) t->data_as<float>()[i] = trees[i].has_word ? 1.0f : -1.0f;
  return t;
}

double train(const Model& model) {
  const std::vector<Tree> trees = draw_trees(kBatch);
  const Tensor margin = op("mul", model(trees), targets(trees));
  const Tensor loss = op("mean", op("softplus", op("neg", margin)));
  autograd::backward(std::vector{loss}, std::vector<Tensor>{Tensor()}, false, false);
  const GradMode off(false);
  for (const Tensor& w : model.weights()) {
    find_op("sub")->in_place(w, autograd::grad(w), kLearningRate);
    autograd::set_grad(w, Tensor());
  }
  return *loss->data_as<float>();
}

double accuracy(const Model& model, int count) {
  const GradMode off(false);
  const std::vector<Tree> trees = draw_trees(count);
  const Tensor right = op("gt", op("mul", model(trees), targets(trees)), 0.0);
  return static_cast<double>(*op("sum", op("to_dtype", right, DType::F32))->data_as<float>()) / count;
}

}  // namespace

int main() {
  eager::start();
  const Model model;
  std::printf("%s\n", recursive::print(model.encode()).c_str());
  for (int step = 0; step < kSteps; ++step) {
    const double loss = train(model);
    if (step % 25 == 24) std::printf("step %3d  loss %.3f\n", step + 1, loss);
  }
  const double reached = accuracy(model, 1000);
  std::printf("accuracy on 1000 new trees: %.1f %%\n", 100 * reached);
  return reached > 0.9 ? 0 : 1;
}
