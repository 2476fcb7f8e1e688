#include "graph/cache/rehearsal.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/autograd/autograd.h"
#include "engine/tensor/epoch.h"

namespace terra::graph {

Rehearsal::Rehearsal(std::vector<Tensor> inputs) : inputs_(std::move(inputs)) {
  std::map<Storage*, Ref<Storage>> storages;
  for (const Tensor& t : inputs_) {
    Ref<Storage>& copy = storages[t->storage.get()];
    if (!copy) {
      copy = Storage::allocate(t->storage->bytes());
      if (t->storage->bytes()) std::memcpy(copy->data(), t->storage->data(), t->storage->bytes());
    }
    copies_.push_back(Tensor::view_of(copy, t->dtype, t->sizes, t->strides, t->offset));
    set_wants_grad(*copies_.back(), t->requires_grad());
    versions_.push_back(t->storage->version());
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor gradient = autograd::grad(inputs_[i]);
    if (!gradient.defined()) continue;
    const auto known =
        std::find_if(inputs_.begin(), inputs_.end(), [&](const Tensor& t) { return t.get() == gradient.get(); });
    autograd::set_grad(copies_[i], known == inputs_.end() ? gradient : copies_[known - inputs_.begin()]);
  }
}

RunResult Rehearsal::run(Compiled& compiled, std::span<const Scalar> scalars,
                         const std::function<bool()>& before_commit, std::vector<RunOutput>& outputs,
                         SameTensors same) {
  /// Holds on to the states of generators, and puts them back.
  struct Kept {
    std::vector<Drawn>& drawn;
    std::vector<RandomState> before;
    explicit Kept(std::vector<Drawn>& list) : drawn(list) {
      for (Drawn& d : drawn) before.push_back(d.generator->state());
    }
    ~Kept() {
      for (size_t i = 0; i < drawn.size(); ++i) {
        drawn[i].after = drawn[i].generator->state();
        drawn[i].generator->set_state(before[i]);
      }
    }
  };
  drawn_.push_back({&default_generator(), {}});
  for (Generator* g : compiled.generators())
    if (g && g != &default_generator()) drawn_.push_back({g, {}});
  const Kept kept(drawn_);
  const std::vector<TensorImpl*> originals = lend(inputs_);
  same.originals = originals;
  return compiled.run(lend(copies_), scalars, before_commit, outputs, nullptr, same);
}

Tensor Rehearsal::original(const Tensor& tensor) const {
  for (size_t i = 0; i < copies_.size(); ++i)
    if (copies_[i].get() == tensor.get()) return inputs_[i];
  return tensor;
}

const Storage* Rehearsal::original(const Storage* copy) const {
  for (size_t i = 0; i < copies_.size(); ++i)
    if (copies_[i]->storage.get() == copy) return inputs_[i]->storage.get();
  return nullptr;
}

}  // namespace terra::graph
