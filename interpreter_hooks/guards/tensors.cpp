#include "interpreter_hooks/guards/tensors.h"

#include "interpreter_hooks/guards/departures.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/undisturbed.h"

#include <algorithm>

namespace terra::capture {

namespace {

/// Bit for bit what contiguous_strides() gives.
bool is_laid_out_newly(const TensorImpl& tensor) {
  int64_t expected = 1;
  for (size_t d = tensor.sizes.size(); d-- > 0;) {
    if (tensor.strides[d] != expected) return false;
    expected *= std::max<int64_t>(tensor.sizes[d], 1);
  }
  return true;
}

}  // namespace

TensorFacts::TensorFacts(const TensorImpl& tensor, std::string path, FreeSizes free)
    : path(std::move(path)),
      dtype(tensor.dtype),
      device(tensor.device),
      requires_grad(tensor.requires_grad()),
      inference(tensor.is_inference()),
      leaf(is_leaf(tensor)),
      contiguous(is_laid_out_newly(tensor)),
      sizes(tensor.sizes),
      strides(tensor.strides),
      free(free) {}

// A view that requires grad by its base alone collects no gradient: it's neither kind.
bool TensorFacts::same_leaf(const TensorImpl& tensor) const { return tensor.wants_grad && is_leaf(tensor) == leaf; }

bool TensorFacts::layout_holds(const TensorImpl& tensor) const {
  if (tensor.sizes.size() != sizes.size() || is_laid_out_newly(tensor) != contiguous) return false;
  for (size_t d = 0; d < sizes.size(); d++) {
    if (tensor.sizes[d] != sizes[d] && (!is_free(d) || tensor.sizes[d] < 2)) return false;
  }
  return true;
}

FreeSizes TensorFacts::to_be_freed(const TensorImpl& tensor) const {
  if (tensor.dtype != dtype || tensor.device != device || tensor.requires_grad() != requires_grad ||
      tensor.is_symbolic() || tensor.is_inference() != inference)
    return 0;
  if (requires_grad && !same_leaf(tensor)) return 0;
  if (tensor.sizes.size() != sizes.size() || is_laid_out_newly(tensor) != contiguous || sizes.size() > 62) return 0;
  FreeSizes missing = !free && tensor.strides != strides && !contiguous ? free_strides : 0;
  for (size_t d = 0; d < sizes.size(); d++) {
    if (tensor.sizes[d] == sizes[d]) continue;
    if (tensor.sizes[d] < 2 || sizes[d] < 2) return 0;
    if (!is_free(d)) missing |= FreeSizes{1} << d;
  }
  return missing;
}

bool TensorFacts::is_outdated(FreeSizes now) const {
  const FreeSizes more = now & ~free;
  if (more & free_strides && !contiguous && !free) return true;
  for (size_t d = 0; d < sizes.size() && d < 63; d++) {
    if (more >> d & 1 && sizes[d] >= 2) return true;
  }
  return false;
}

std::string TensorFacts::text() const {
  std::string shape = "[";
  for (size_t d = 0; d < sizes.size(); d++) shape += (d ? ", " : "") + (is_free(d) ? "*" : std::to_string(sizes[d]));
  std::string layout = contiguous ? "" : free ? " of any strides" : " strides " + to_string(strides);
  return std::string(name_of(dtype)) + " " + shape + "]" + layout + (inference ? " for inference" : "") +
         (requires_grad ? leaf ? " leaf that requires grad" : " requires grad" : "");
}

std::string TensorFacts::miss(const TensorImpl& tensor) const {
  auto was = [&](const std::string& what, const std::string& before, const std::string& now) {
    return path + what + " was " + before + ", now " + now;
  };
  auto truth = [](bool value) { return std::string(value ? "True" : "False"); };
  if (tensor.device != device) return was(".device", to_string(device), to_string(tensor.device));
  if (tensor.dtype != dtype) return was(".dtype", std::string(name_of(dtype)), std::string(name_of(tensor.dtype)));
  if (tensor.requires_grad() != requires_grad)
    return was(".requires_grad", truth(requires_grad), truth(tensor.requires_grad()));
  if (tensor.is_inference() != inference) return was(".is_inference()", truth(inference), truth(tensor.is_inference()));
  if (tensor.sizes.size() != sizes.size()) return was(".shape", to_string(sizes), to_string(tensor.sizes));
  for (size_t d = 0; d < sizes.size(); d++) {
    if (tensor.sizes[d] != sizes[d] && (!is_free(d) || tensor.sizes[d] < 2))
      return was(".shape[" + std::to_string(d) + "]", std::to_string(sizes[d]), std::to_string(tensor.sizes[d]));
  }
  if (requires_grad && !same_leaf(tensor)) return was(".is_leaf", truth(leaf), truth(!leaf));
  return was(".stride()", to_string(strides), to_string(tensor.strides));
}

bool tensor_holds(Word* at, Run& run) {
  PyObject* object = a_of(at, run);
  return Py_TYPE(object) == pointer<PyTypeObject>(at[2]) && pointer<TensorFacts>(at[1])->hold(*tensor_of(object));
}
std::string tensor_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + ": " + pointer<TensorFacts>(at[1])->text();
}

bool size_of_holds(Word* at, Run& run) {
  const TensorImpl& tensor = *tensor_of(a_of(at, run));
  bool all = at[1] == all_elements;
  if (!all && at[1] >= tensor.sizes.size()) return false;
  return store(at, run, PyLong_FromLongLong(all ? tensor.numel : tensor.sizes[at[1]]));
}

bool offset_holds(Word* at, Run& run) { return tensor_of(a_of(at, run))->offset == static_cast<int64_t>(at[1]); }
std::string offset_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + ".storage_offset() == " + std::to_string(at[1]);
}

bool gradient_holds(Word* at, Run& run) {
  PyObject* object = a_of(at, run);
  Tensor gradient = gradient_of(*tensor_of(object));
  const CollectorHeld held;  // the gradient may have had no object until now
  return gradient.defined() && !(at[1] && is_hooked(object)) && store(at, run, object_of(gradient)) &&
         goes_quietly(run.registers[head(at).dst]);
}
std::string gradient_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + ".grad is there, " + (at[1] ? "has no hooks, " : "") + "and no code runs when it goes";
}

bool version_holds(Word* at, Run& run) {
  return store(at, run, PyLong_FromUnsignedLong(tensor_of(a_of(at, run))->storage->version()));
}
std::string version_text(const Word* at, const RegisterFile& file) { return name_a(at, file) + " has a version"; }

bool no_gradient_holds(Word* at, Run& run) {
  PyObject* object = a_of(at, run);
  return !gradient_of(*tensor_of(object)).defined() && !(at[1] && is_hooked(object));
}
std::string no_gradient_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + ".grad is None" + (at[1] ? " and has no hooks" : "");
}

bool same_storage_holds(Word* at, Run& run) {
  return tensor_of(a_of(at, run))->storage == tensor_of(b_of(at, run))->storage;
}
std::string same_storage_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " and " + name_b(at, file) + " share their memory";
}

bool apart_holds(Word* at, Run& run) {
  struct Block {
    char *begin, *end;
    bool operator<(const Block& other) const { return begin < other.begin; }
  };
  Block blocks[most_packed];
  int count = 0;
  bool have_memory = true;
  each_packed(at, 0, [&](Register r) {
    Storage* storage = tensor_of(run.registers[r])->storage.get();
    if (!storage) return void(have_memory = false);
    auto* begin = static_cast<char*>(storage->data());
    blocks[count++] = {begin, begin + storage->bytes()};
  });
  if (!have_memory) return false;
  std::sort(blocks, blocks + count);
  for (int i = 1; i < count; i++) {
    if (blocks[i].begin < blocks[i - 1].end) return false;
  }
  return true;
}
std::string apart_text(const Word* at, const RegisterFile& file) {
  return listed("memory does not overlap:", at, file);
}

bool own_history_holds(Word* at, Run& run) {
  const TensorImpl& tensor = *tensor_of(a_of(at, run));
  return !tensor.autograd || !gradients_reach_its_base(tensor);
}
std::string own_history_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " is no view of what requires grad";
}

bool mode_holds(Word* at, Run&) { return engine_mode() == at[1]; }
std::string mode_text(const Word* at, const RegisterFile&) {
  return std::string("gradient mode is ") + (at[1] & gradient_mode ? "on" : "off") +
         (at[1] & inference_mode ? " for inference" : "") + (at[1] & uint64_t{1} << 41 ? ", autocast is on" : "");
}

}  // namespace terra::capture
