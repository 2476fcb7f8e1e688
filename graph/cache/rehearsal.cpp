#include "graph/cache/rehearsal.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "engine/autograd/autograd.h"
#include "engine/tensor/epoch.h"
#include "engine/tensor/transfer.h"

namespace terra::graph {

namespace {

/// Moves every element up or down by one unit in the last place, and leaves 0, infinities and NaN. `exponent`: the bits
/// of the exponent in its format.
template <class Bits>
void shake_elements(void* data, size_t bytes, Bits exponent) {
  auto* element = static_cast<Bits*>(data);
  uint32_t random = 1;
  for (size_t i = 0; i < bytes / sizeof(Bits); ++i) {
    random = random * 1664525 + 1013904223;
    const bool counts = (element[i] & exponent) != 0 && (element[i] & exponent) != exponent;
    if (counts) element[i] = static_cast<Bits>(random >> 31 ? element[i] + 1 : element[i] - 1);
  }
}

void shake_elements(void* data, size_t bytes, DType dtype) {
  switch (dtype) {
    case DType::C128:
    case DType::F64: return shake_elements<uint64_t>(data, bytes, uint64_t{0x7ff} << 52);
    case DType::C64:
    case DType::F32: return shake_elements<uint32_t>(data, bytes, 0x7f800000);
    case DType::C32:
    case DType::F16: return shake_elements<uint16_t>(data, bytes, 0x7c00);
    case DType::BC32:
    case DType::BF16: return shake_elements<uint16_t>(data, bytes, 0x7f80);
    default: return;
  }
}

}  // namespace

void Rehearsal::add(const std::vector<Tensor>& inputs) {
  const size_t first = inputs_.size();
  std::unordered_map<const TensorImpl*, Tensor> copy_by_input;  // a tensor in two places is one tensor: tied weights
  for (size_t i = 0; i < first; ++i) copy_by_input.emplace(inputs_[i].get(), copies_[i]);
  for (const Tensor& t : inputs) {
    inputs_.push_back(t);
    versions_.push_back(t->storage->version());
    Tensor& copy = copy_by_input[t.get()];
    if (!copy.defined()) {
      Ref<Storage>& storage = storages_[t->storage.get()];
      if (!storage) {
        storage = Storage::copied(*t->storage);
        storage->mark_inference(t->is_inference());
      }
      copy = Tensor::view_of(storage, t->dtype, t->sizes, t->strides, t->offset);
      set_wants_grad(*copy, t->requires_grad());
    }
    copies_.push_back(copy);
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Tensor gradient = autograd::grad(inputs_[i]);
    if (!gradient.defined()) continue;
    const auto known =
        std::find_if(inputs_.begin(), inputs_.end(), [&](const Tensor& t) { return t.get() == gradient.get(); });
    const auto place = static_cast<size_t>(known - inputs_.begin());
    if (place < inputs_.size() && (i >= first || place >= first)) autograd::set_grad(copies_[i], copies_[place]);
    if (place == inputs_.size() && i >= first) autograd::set_grad(copies_[i], gradient);
  }
}

const Tensor& Rehearsal::copy_of(const TensorImpl* input) const {
  const auto known = std::find_if(inputs_.begin(), inputs_.end(), [&](const Tensor& t) { return t.get() == input; });
  return copies_[static_cast<size_t>(known - inputs_.begin())];
}

size_t Rehearsal::bytes() const {
  size_t sum = 0;
  for (const auto& [real, copy] : storages_) sum += copy->bytes();
  return sum;
}

void Rehearsal::shake() {
  std::set<const Storage*> done;
  for (const Tensor& t : copies_) {
    Storage& storage = *t->storage;
    if (done.insert(&storage).second)
      change_on_host(storage.device(), storage.data(), storage.bytes(),
                     [&](void* elements) { shake_elements(elements, storage.bytes(), t.dtype()); });
  }
}

RunResult Rehearsal::run(const std::vector<Generator*>& generators, const std::function<RunResult()>& body) {
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
  for (Generator* g : generators)
    if (g && g != &default_generator()) drawn_.push_back({g, {}});
  const Kept kept(drawn_);
  return body();
}

RunResult Rehearsal::run(Compiled& compiled, std::span<const Scalar> scalars,
                         const std::function<bool()>& before_commit, std::vector<RunOutput>& outputs, SameTensors same,
                         Release* release) {
  const std::vector<TensorImpl*> originals = lend(inputs_);
  same.originals = originals;
  // A run that could stand already would take memory from gradients, and copies have those of the program.
  const std::function<bool()> asked = before_commit ? before_commit : [] { return true; };
  if (release && compiled.generators().empty())
    return compiled.run(lend(copies_), scalars, asked, outputs, release, same);
  return run(compiled.generators(),
             [&] { return compiled.run(lend(copies_), scalars, asked, outputs, nullptr, same); });
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
