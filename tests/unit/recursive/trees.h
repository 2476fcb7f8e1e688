// Structures of a program without Python, as graphs see them: handles, and host functions that read them.
#pragma once
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "graph/ir/handle.h"

namespace terra::recursive::test {

/// A node with any number of children; leaves have a word.
struct Tree {
  int64_t word = 0;
  double weight = 0;
  Tensor tensor;  ///< perhaps
  std::vector<Tree*> children;
};

/// Owns the nodes of structures.
class Forestry {
 public:
  Tree* leaf(int64_t word) {
    Tree& t = add();
    t.word = word;
    return &t;
  }
  Tree* node(std::vector<Tree*> children) {
    Tree& t = add();
    t.children = std::move(children);
    return &t;
  }
  /// A binary tree over so many words, split at random places.
  Tree* random(std::mt19937& random, int leaves, int64_t words) {
    if (leaves == 1) return leaf(static_cast<int64_t>(random() % static_cast<uint64_t>(words)));
    const int left = 1 + static_cast<int>(random() % static_cast<uint64_t>(leaves - 1));
    Tree* l = this->random(random, left, words);
    return node({l, this->random(random, leaves - left, words)});
  }
  template <class F>
  void for_each(F&& f) {
    for (const auto& tree : trees_) f(*tree);
  }
  Tree* chain(int depth, int64_t words) {
    Tree* t = leaf(0);
    for (int i = 1; i <= depth; ++i) t = node({t, leaf(i % words)});
    return t;
  }

 private:
  Tree& add() {
    Tree& t = *trees_.emplace_back(std::make_unique<Tree>());
    t.weight = 0.1 * static_cast<double>(trees_.size() % 7);
    return t;
  }
  std::vector<std::unique_ptr<Tree>> trees_;
};

/// The host functions of these tests, by number.
enum HostFunctions : uint32_t {
  kArity = 0,
  kWord = 1,
  kChild0 = 2,
  kChild1 = 3,
  kWeight = 4,
  kTensor = 5,
  kChild2 = 6
};

inline void read_tree(uint32_t index, std::span<const graph::HostValue> args, std::span<graph::HostValue> results) {
  const auto* tree = static_cast<const Tree*>(std::get<graph::Handle>(args[0]).get());
  const auto child = [&](size_t k) { return graph::Handle(tree->children.at(k)); };
  switch (index) {
    case kArity: results[0] = Scalar(static_cast<int64_t>(tree->children.size())); break;
    case kWord: results[0] = Scalar(tree->word); break;
    case kChild0: results[0] = child(0); break;
    case kChild1: results[0] = child(1); break;
    case kChild2: results[0] = child(2); break;
    case kWeight: results[0] = Scalar(tree->weight); break;
    case kTensor: results[0] = tree->tensor; break;
    default: throw std::runtime_error("no such host function");
  }
}

}  // namespace terra::recursive::test
