// The history of a tensor whose backward has been run and freed.
#pragma once
#include "engine/autograd/node.h"

namespace terra::autograd {

/// Throws what a second backward through freed saved tensors says.
[[noreturn]] void fail_spent();

/// True iff some call in the history of `t` has freed what it saved, so that backward from `t` would fail.
bool is_spent(const Tensor& t);

/// Stands for such a history where the calls themselves are gone: it has their name and fails as they would.
class SpentNode final : public Node {
 public:
  explicit SpentNode(std::string name) : name_(std::move(name)) {}
  std::vector<Tensor> apply(const std::vector<Tensor>&) override { fail_spent(); }
  std::string name() const override { return name_; }
  bool released() const override { return true; }

 private:
  std::string name_;
};

}  // namespace terra::autograd
