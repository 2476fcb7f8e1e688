#include "interpreter_hooks/effects/likeness.h"

#include "interpreter_hooks/effects/elements.h"
#include "interpreter_hooks/effects/picture.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"

#include "engine/autograd/autograd.h"
#include "kernels/abi/exact_mode.h"

#include <fmt/format.h>

#include <vector>

namespace terra::capture {

namespace {

std::string history_name(const Tensor& t) {
  const autograd::Edge edge = autograd::own_history(t);
  return edge.node ? edge.node->name() : "no grad_fn";
}

std::string geometry(const TensorImpl& t) {
  return fmt::format("{} {} strides {}{}{}", name_of(t.dtype), to_string(t.sizes), to_string(t.strides),
                     t.is_inference() ? " for inference" : "", t.requires_grad() ? " that requires grad" : "");
}

Tensor share(PyObject* object) { return Tensor(Ref<TensorImpl>(tensor_of(object))); }

bool is_plain_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object);
}

std::string in_words(PyObject* object) {
  if (object && is_tensor(object)) return "a tensor " + geometry(*tensor_of(object));
  return short_text(object);
}

}  // namespace

Likeness::Likeness(const graph::Rehearsal* rehearsal) : rehearsal_(rehearsal) {
  if (!rehearsal) return;
  for (size_t i = 0; i < rehearsal->inputs().size(); i++) {
    const Storage *copy = rehearsal->copies()[i]->storage.get(), *real = rehearsal->inputs()[i]->storage.get();
    storages_[copy] = real;
    storages_back_[real] = copy;
  }
}

bool Likeness::differs(const std::string& what, std::string expected, std::string got, bool of_values) {
  if (!difference_) difference_ = {what, std::move(expected), std::move(got), of_values};
  return false;
}

bool Likeness::storages_alike(const std::string& what, const Storage* expected, const Storage* got) {
  if (expected == got) return true;  // a constant of the graph
  auto [there, is_new] = storages_.try_emplace(expected, got);
  auto [back, is_new_back] = storages_back_.try_emplace(got, expected);
  if (there->second == got && back->second == expected) return true;
  return differs(what, is_new ? "memory of its own" : "memory shared with another tensor",
                 is_new_back ? "memory of its own" : "memory shared with another tensor");
}

bool Likeness::same_elements(const std::string& what, const TensorImpl& expected, const TensorImpl& got) {
  if (geometry(expected) != geometry(got)) return differs(what, geometry(expected), geometry(got));
  return elements_alike(what, expected, got, exact_mode());
}

bool Likeness::near_elements(const std::string& what, const TensorImpl& expected, const TensorImpl& got) {
  if (expected.dtype != got.dtype || expected.sizes != got.sizes)
    return differs(what, geometry(expected), geometry(got));
  return elements_alike(what, expected, got, false);
}

bool Likeness::elements_alike(const std::string& what, const TensorImpl& expected, const TensorImpl& got, bool exact) {
  const auto allowed = allowed_.find(&expected);
  const bool known = allowed != allowed_.end();
  const auto apart =
      first_apart(expected, got, exact || (!is_inexact(expected.dtype) && !known), known ? allowed->second : 0);
  if (!apart) return true;
  return differs(fmt::format("{}, element {}", what, apart->place), fmt::format("{}", apart->a),
                 fmt::format("{}", apart->b), true);
}

bool Likeness::alike(const std::string& what, const Tensor& expected, const Tensor& got) {
  if (!expected.defined() || !got.defined()) {
    if (expected.defined() == got.defined()) return true;
    return differs(what, expected.defined() ? "a tensor" : "None", got.defined() ? "a tensor" : "None");
  }
  const Tensor real = rehearsal_ ? rehearsal_->original(expected) : expected;
  if (!made_tensors_.count(real.get())) {
    return real.get() == got.get() || differs(what, "the tensor that was there before", "another one");
  }
  auto [place, is_new] = tensors_.try_emplace(expected.get(), got.get());
  if (!is_new) return place->second == got.get() || differs(what, "the same tensor as elsewhere", "another one");
  if (autograd::is_leaf(expected) != autograd::is_leaf(got) || history_name(expected) != history_name(got)) {
    return differs(what, "a tensor with " + history_name(expected), "one with " + history_name(got));
  }
  return storages_alike(what, expected->storage.get(), got->storage.get()) && same_elements(what, *expected, *got);
}

bool Likeness::alike(const std::string& what, PyObject* expected, PyObject* got) {
  if (!expected || !got) return expected == got || differs(what, in_words(expected), in_words(got));
  const bool of_one_type = Py_TYPE(expected) == Py_TYPE(got);
  if (is_tensor(expected) && made_tensors_.count(tensor_of(expected))) {
    return of_one_type ? alike(what, share(expected), share(got)) : differs(what, in_words(expected), in_words(got));
  }
  if (made_.count(expected)) {
    auto [place, is_new] = counterparts_.try_emplace(expected, got);
    if (!is_new) return place->second == got || differs(what, "the same object as elsewhere", "another one");
    return of_one_type ? contents_alike(what, expected, got) : differs(what, in_words(expected), in_words(got));
  }
  if (expected == got || same_value(expected, got)) return true;
  if (of_one_type && is_plain_number(expected)) {
    const double a = PyFloat_CheckExact(expected) ? PyFloat_AS_DOUBLE(expected) : PyLong_AsDouble(expected);
    const double b = PyFloat_CheckExact(expected) ? PyFloat_AS_DOUBLE(got) : PyLong_AsDouble(got);
    const double relative = PyFloat_CheckExact(expected) ? tolerance(DType::F32) : 0;
    PyErr_Clear();  // a large int
    const bool may_differ = !exact_mode() && (relative > 0 || allowed_numbers_ > 0);
    if (may_differ && near(a, b, relative, 0, allowed_numbers_)) return true;
    return differs(what, in_words(expected), in_words(got), true);
  }
  // Made anew by every run, but a constant of the entry: what cannot change is compared by its contents.
  const bool immutable = PyTuple_Check(expected) || PyMethod_Check(expected);
  return of_one_type && immutable ? contents_alike(what, expected, got)
                                  : differs(what, in_words(expected), in_words(got));
}

bool Likeness::contents_alike(const std::string& what, PyObject* expected, PyObject* got) {
  if (PyList_Check(expected) || PyTuple_Check(expected)) {
    if (Py_SIZE(expected) != Py_SIZE(got)) {
      return differs("len(" + what + ")", std::to_string(Py_SIZE(expected)), std::to_string(Py_SIZE(got)));
    }
    PyObject** a = PySequence_Fast_ITEMS(expected);
    PyObject** b = PySequence_Fast_ITEMS(got);
    for (Py_ssize_t i = 0; i < Py_SIZE(expected); i++) {
      if (!alike(fmt::format("{}[{}]", what, i), a[i], b[i])) return false;
    }
    return true;
  }
  if (PyODict_Check(expected)) {  // has an order of its own beside the table's
    PyObject *a = keep(PyMapping_Items(expected)), *b = keep(PyMapping_Items(got));
    PyErr_Clear();
    return !a || !b || contents_alike(what, a, b);
  }
  if (PyDict_Check(expected)) {
    if (PyDict_GET_SIZE(expected) != PyDict_GET_SIZE(got)) {
      return differs("len(" + what + ")", std::to_string(PyDict_GET_SIZE(expected)),
                     std::to_string(PyDict_GET_SIZE(got)));
    }
    PyObject *key_a, *value_a, *key_b, *value_b;
    Py_ssize_t at_a = 0, at_b = 0;
    while (PyDict_Next(expected, &at_a, &key_a, &value_a) && PyDict_Next(got, &at_b, &key_b, &value_b)) {
      if (!alike("a key of " + what, key_a, key_b)) return false;
      if (!alike(what + "[" + short_text(key_a) + "]", value_a, value_b)) return false;
    }
    return true;
  }
  if (PyMethod_Check(expected)) {
    return alike(what + ".__func__", PyMethod_GET_FUNCTION(expected), PyMethod_GET_FUNCTION(got)) &&
           alike(what + ".__self__", PyMethod_GET_SELF(expected), PyMethod_GET_SELF(got));
  }
  if (PyCell_Check(expected)) return alike("cell " + what, PyCell_GET(expected), PyCell_GET(got));
  auto a = attributes_of(expected), b = attributes_of(got);
  if (a.size() != b.size()) {
    return differs("number of attributes of " + what, std::to_string(a.size()), std::to_string(b.size()));
  }
  for (size_t i = 0; i < a.size(); i++) {
    if (!alike("name of an attribute of " + what, a[i].first, b[i].first)) return false;
    if (!alike(what + "." + utf8_of(a[i].first), a[i].second, b[i].second)) return false;
  }
  return true;
}

}  // namespace terra::capture
