#include "interpreter_hooks/guards/tensors.h"

#include "interpreter_hooks/guards/functions.h"

namespace terra::capture {

TensorFacts::TensorFacts(const TensorImpl& tensor)
    : dtype(tensor.dtype),
      requires_grad(tensor.requires_grad),
      leaf(is_leaf(tensor)),
      has_gradient(gradient_of(tensor) != nullptr),
      sizes(tensor.sizes),
      strides(tensor.strides),
      offset(tensor.offset) {}

bool TensorFacts::hold(const TensorImpl& tensor) const {
  return tensor.dtype == dtype && tensor.requires_grad == requires_grad && tensor.offset == offset &&
         tensor.sizes == sizes && tensor.strides == strides && !tensor.is_symbolic() &&
         (!requires_grad || (is_leaf(tensor) == leaf && (gradient_of(tensor) != nullptr) == has_gradient));
}

std::string TensorFacts::text() const {
  return std::string(name_of(dtype)) + " " + to_string(sizes) + " strides " + to_string(strides) +
         (requires_grad ? leaf ? " leaf that requires grad" : " requires grad" : "") +
         (requires_grad && has_gradient ? " with .grad" : "");
}

bool tensor_holds(Word* at, Run& run) {
  PyObject* object = a_of(at, run);
  return Py_TYPE(object) == pointer<PyTypeObject>(at[2]) && pointer<TensorFacts>(at[1])->hold(*tensor_of(object));
}
std::string tensor_text(const Word* at, const RegisterFile& file) {
  return file.name(head(at).a) + " is " + pointer<TensorFacts>(at[1])->text();
}

bool apart_holds(Word* at, Run& run) {
  TensorImpl *a = tensor_of(a_of(at, run)), *b = tensor_of(b_of(at, run));
  if (!a->storage || !b->storage) return false;
  auto* x = static_cast<char*>(a->storage->data());
  auto* y = static_cast<char*>(b->storage->data());
  return x + a->storage->bytes() <= y || y + b->storage->bytes() <= x;
}
std::string apart_text(const Word* at, const RegisterFile& file) {
  return "memory of " + file.name(head(at).a) + " and " + file.name(head(at).b) + " does not overlap";
}

bool mode_holds(Word* at, Run&) { return engine_mode() == at[1]; }
std::string mode_text(const Word* at, const RegisterFile&) {
  return std::string("gradient mode is ") + (at[1] & 1 ? "on" : "off");
}

}  // namespace terra::capture
