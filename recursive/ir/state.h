// What a SubGraph is made of, between its declaration and its lowering.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "recursive/ir/body.h"

namespace terra::recursive {

struct SubGraphState {
  explicit SubGraphState(std::string n) : name(n), body(*this, std::move(n)) {}
  SubGraphState(const SubGraphState&) = delete;

  std::string name;
  Body body;
  std::vector<graph::ValueMeta> outputs;
  bool complete = false;
  /// What its calls call: Node::index says which, until it is lowered.
  std::vector<std::weak_ptr<SubGraphState>> callees;

  uint32_t number_of(const std::shared_ptr<SubGraphState>& callee);
};

}  // namespace terra::recursive
