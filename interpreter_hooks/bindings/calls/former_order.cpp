#include "interpreter_hooks/bindings/calls/former_order.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/ops/op.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {

namespace {

/// An op that has one: add(self, alpha, other).
struct FormerOrder {
  std::string_view op;
  const char* factor;     ///< of what is added
  const char* of_itself;  ///< the factor of the tensor that is added to, or null: there is none
};
constexpr FormerOrder former_orders[] = {
    {"add", "alpha", nullptr},     {"sub", "alpha", nullptr},   {"addcmul", "value", nullptr},
    {"addcdiv", "value", nullptr}, {"addbmm", "alpha", "beta"}, {"addmm", "alpha", "beta"},
    {"addmv", "alpha", "beta"},    {"addr", "alpha", "beta"},   {"baddbmm", "alpha", "beta"},
};

bool is_factor(Borrowed value) {
  if (is_tensor(value)) return impl_of(value)->sizes.empty() && !impl_of(value)->is_symbolic();
  return PyNumber_Check(value);
}

/// Once for each function, as PyTorch.
void warn_of_former_order(const OpFunctionSpec& spec, const FormerOrder& order) {
  static auto& warned = *new std::vector<std::string>;
  if (std::find(warned.begin(), warned.end(), spec.name) != warned.end()) return;
  warned.push_back(spec.name);
  const std::string text = "This overload of " + spec.name + " is deprecated: give " +
                           (order.of_itself ? std::string(order.of_itself) + "= and " : "") + order.factor +
                           "= by keyword, behind the tensors";
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw PythonError{};
}

}  // namespace

bool from_former_order(const OpFunctionSpec& spec, PyObject* const* values, size_t count, PyObject* keywords,
                       Reordered& to) {
  const Parameters& parameters = *spec.candidates[0];
  const size_t tensors = parameters.positional;
  const FormerOrder* order = nullptr;
  for (const FormerOrder& each : former_orders)
    if (each.op == parameters.op.name) order = &each;
  if (!order || count > tensors + (order->of_itself ? 2 : 1)) return false;
  std::vector<PyObject*> factors;
  size_t first = 0;  // where the tensor that is added to is
  if (order->of_itself && !spec.as_method && is_factor(values[0])) factors.push_back(values[first++]);
  to.values.push_back(values[first]);
  size_t next = first + 1;
  for (const size_t all = count - tensors; factors.size() < all; ++next) {
    if (!is_factor(values[next])) return false;
    factors.push_back(values[next]);
  }
  to.values.insert(to.values.end(), values + next, values + count);
  to.count = to.values.size();
  std::vector<const char*> names;
  if (order->of_itself) names.push_back(order->of_itself);
  if (names.size() < factors.size()) names.push_back(order->factor);
  to.values.insert(to.values.end(), factors.begin(), factors.end());
  const Py_ssize_t more = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  to.keywords = owned(PyTuple_New(static_cast<Py_ssize_t>(names.size()) + more));
  for (size_t i = 0; i < names.size(); ++i)
    PyTuple_SET_ITEM(to.keywords.get(), static_cast<Py_ssize_t>(i),
                     owned(PyUnicode_InternFromString(names[i])).release());
  for (Py_ssize_t i = 0; i < more; ++i) {
    PyTuple_SET_ITEM(to.keywords.get(), static_cast<Py_ssize_t>(names.size()) + i,
                     Py_NewRef(PyTuple_GET_ITEM(keywords, i)));
    to.values.push_back(values[count + static_cast<size_t>(i)]);
  }
  warn_of_former_order(spec, *order);
  return true;
}

}  // namespace terra::hooks
