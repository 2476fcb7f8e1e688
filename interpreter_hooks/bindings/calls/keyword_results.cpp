#include "interpreter_hooks/bindings/calls/keyword_results.h"

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/out_rules.h"
#include "engine/ops/overlap.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/tensor/resize.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

void warn_of_resizing(const TensorImpl& to, const TensorImpl& from) {
  const std::string sentence = fmt::format(
      "An output with one or more elements was resized since it had shape {}, which does not match the required output "
      "shape {}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they "
      "have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
      "t.resize_(0).",
      to_string(to.sizes), to_string(from.sizes));
  if (PyErr_WarnEx(PyExc_UserWarning, sentence.c_str(), 1) < 0) throw PythonError{};
}

void copy_out(Borrowed result, Borrowed out, const CalledOp& called) {
  if (!is_tensor(out))
    raise(PyExc_TypeError, "%s(): argument 'out' must be Tensor, not %s", called.name, Py_TYPE(out)->tp_name);
  TensorImpl *to = impl_of(out), *from = impl_of(result);
  check_out_dtype(called.op, from->dtype, to->dtype);
  check_cast(from->dtype, to->dtype);
  if (to->sizes != from->sizes) {
    if (to->numel != 0) warn_of_resizing(*to, *from);
    report_opaque("out= resizes its tensor", out);
    resize(*to, from->sizes, MemoryFormat::Contiguous);
  }
  invoke_in_place(required_op("copy"), {tensor_of(out), tensor_of(result)}, {out, result});
}

}  // namespace

Object apply_keyword_results(Object result, Borrowed out, Borrowed requires_grad, const CalledOp& called) {
  if (out) {
    if (is_tensor(result.get())) {
      copy_out(result.get(), out, called);
    } else {
      if (!PyTuple_Check(out) || PyTuple_GET_SIZE(out) != PyTuple_GET_SIZE(result.get()))
        raise(PyExc_TypeError, "%s(): argument 'out' must be a tuple of %zd Tensors", called.name,
              PyTuple_GET_SIZE(result.get()));
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(out); ++i)
        copy_out(PyTuple_GET_ITEM(result.get(), i), PyTuple_GET_ITEM(out, i), called);
    }
    result = Object::share(out);
  }
  if (!is_tensor(result.get())) return result;
  const bool wants_grad = requires_grad && succeeded(PyObject_IsTrue(requires_grad));
  const bool asks = wants_grad || (called.op.is(kFactory) && impl_of(result.get())->requires_grad());
  if (!asks) return result;
  if (OpObserver* observer = op_observer()) observer->on_requires_grad(result.get(), wants_grad);
  if (wants_grad)
    autograd::make_require_grad(tensor_of(result.get()));
  else
    autograd::set_requires_grad(tensor_of(result.get()), false);
  return result;
}

}  // namespace terra::hooks
