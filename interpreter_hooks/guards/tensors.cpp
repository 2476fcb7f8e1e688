#include "interpreter_hooks/guards/tensors.h"

#include "interpreter_hooks/guards/functions.h"

#include <algorithm>

namespace terra::capture {

TensorFacts::TensorFacts(const TensorImpl& tensor)
    : dtype(tensor.dtype),
      requires_grad(tensor.requires_grad),
      leaf(is_leaf(tensor)),
      sizes(tensor.sizes),
      strides(tensor.strides),
      offset(tensor.offset) {}

bool TensorFacts::hold(const TensorImpl& tensor) const {
  return tensor.dtype == dtype && tensor.requires_grad == requires_grad && tensor.offset == offset &&
         tensor.sizes == sizes && tensor.strides == strides && !tensor.is_symbolic() &&
         (!requires_grad || is_leaf(tensor) == leaf);
}

std::string TensorFacts::text() const {
  const bool dense = strides == contiguous_strides(sizes);
  return std::string(name_of(dtype)) + " " + to_string(sizes) + (dense ? "" : " strides " + to_string(strides)) +
         (requires_grad ? leaf ? " leaf that requires grad" : " requires grad" : "");
}

bool tensor_holds(Word* at, Run& run) {
  PyObject* object = a_of(at, run);
  return Py_TYPE(object) == pointer<PyTypeObject>(at[2]) && pointer<TensorFacts>(at[1])->hold(*tensor_of(object));
}
std::string tensor_text(const Word* at, const RegisterFile& file) {
  return file.name(head(at).a) + ": " + pointer<TensorFacts>(at[1])->text();
}

bool gradient_holds(Word* at, Run& run) {
  PyObject* object = a_of(at, run);
  Tensor gradient = gradient_of(*tensor_of(object));
  return gradient.defined() && !is_hooked(object) && found(at, run, object_of(gradient));
}
std::string gradient_text(const Word* at, const RegisterFile& file) {
  return file.name(head(at).a) + ".grad is there and has no hooks";
}

bool version_holds(Word* at, Run& run) {
  return found(at, run, PyLong_FromUnsignedLong(tensor_of(a_of(at, run))->storage->version()));
}
std::string version_text(const Word* at, const RegisterFile& file) { return file.name(head(at).a) + " has a version"; }

bool no_gradient_holds(Word* at, Run& run) {
  PyObject* object = a_of(at, run);
  return !gradient_of(*tensor_of(object)).defined() && !is_hooked(object);
}
std::string no_gradient_text(const Word* at, const RegisterFile& file) {
  return file.name(head(at).a) + ".grad is None and has no hooks";
}

bool same_storage_holds(Word* at, Run& run) {
  return tensor_of(a_of(at, run))->storage == tensor_of(b_of(at, run))->storage;
}
std::string same_storage_text(const Word* at, const RegisterFile& file) {
  return file.name(head(at).a) + " and " + file.name(head(at).b) + " share their memory";
}

bool apart_holds(Word* at, Run& run) {
  struct Block {
    char *begin, *end;
    bool operator<(const Block& other) const { return begin < other.begin; }
  };
  Block blocks[4 * 254];
  int count = 0;
  auto* list = reinterpret_cast<const Register*>(at + 1);
  for (int i = 0; i < 4 * (head(at).words - 1); i++) {
    if (list[i] == no_register) continue;
    Storage* storage = tensor_of(run.registers[list[i]])->storage.get();
    if (!storage) return false;
    auto* begin = static_cast<char*>(storage->data());
    blocks[count++] = {begin, begin + storage->bytes()};
  }
  std::sort(blocks, blocks + count);
  for (int i = 1; i < count; i++) {
    if (blocks[i].begin < blocks[i - 1].end) return false;
  }
  return true;
}
std::string apart_text(const Word* at, const RegisterFile& file) {
  std::string text = "memory does not overlap:";
  auto* list = reinterpret_cast<const Register*>(at + 1);
  for (int i = 0; i < 4 * (head(at).words - 1); i++) {
    if (list[i] != no_register) text += " " + file.name(list[i]);
  }
  return text;
}

bool mode_holds(Word* at, Run&) { return engine_mode() == at[1]; }
std::string mode_text(const Word* at, const RegisterFile&) {
  return std::string("gradient mode is ") + (at[1] & 1 ? "on" : "off");
}

}  // namespace terra::capture
