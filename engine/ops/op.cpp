#include "engine/ops/op.h"

#include <unordered_map>

#include "engine/errors/errors.h"
#include "engine/memory/spare.h"
#include "engine/ops/call.h"

namespace terra {
namespace {

struct Registry {
  std::vector<const Op*> ops;
  std::unordered_map<std::string_view, const Op*> by_name;
};

Registry& registry() {
  static Registry* instance = new Registry;  // never destroyed: tape nodes refer to ops until the process ends
  return *instance;
}

}  // namespace

Op::Op(OpRecord record) : OpRecord(std::move(record)), parsed(parse_signature(signature)) {
  ensure(parsed.params.size() <= kMaxParams, "an op has at most 24 parameters");
  Registry& r = registry();
  id = static_cast<int>(r.ops.size());
  r.ops.push_back(this);
  if (!r.by_name.emplace(name, this).second) throw InternalError("two op records are named " + std::string(name));
}

Tensor Op::call_first(std::span<const Arg> args) const {
  static thread_local Spare<std::vector<Tensor>> kept;
  Spare<std::vector<Tensor>>::Use use(kept);
  std::vector<Tensor>& results = use.get();
  call(*this, args, results);
  return std::move(results.front());
}

std::vector<Tensor> Op::call_all(std::span<const Arg> args) const {
  std::vector<Tensor> results;
  call(*this, args, results);
  return results;
}

Tensor Op::call_in_place_first(std::span<const Arg> args) const { return call_in_place(*this, args); }

const std::vector<const Op*>& all_ops() { return registry().ops; }

const Op* find_op(std::string_view name) {
  const auto it = registry().by_name.find(name);
  return it == registry().by_name.end() ? nullptr : it->second;
}

}  // namespace terra
