#include "interpreter_hooks/effects/picture.h"

#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/text.h"

#include <structmember.h>

#include <algorithm>
#include <cstring>

namespace terra::capture {

namespace {

using Places = std::vector<std::pair<PyObject*, PyObject*>>;

void add_dict(PyObject* dict, Places& places) {
  PyObject *key, *value;
  for (Py_ssize_t at = 0; dict && PyDict_Check(dict) && PyDict_Next(dict, &at, &key, &value);) {
    places.emplace_back(key, value);
  }
}

void add_slots(PyObject* object, Places& places) {
  PyObject* line = Py_TYPE(object)->tp_mro;
  for (Py_ssize_t i = 0; line && i < PyTuple_GET_SIZE(line); i++) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(line, i));
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) continue;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(terra_class_dict(type), &at, &key, &value);) {
      if (Py_TYPE(value) != &PyMemberDescr_Type) continue;
      PyMemberDef* member = reinterpret_cast<PyMemberDescrObject*>(value)->d_member;
      if (member->type != T_OBJECT_EX || (member->flags & READONLY)) continue;
      PyObject* held = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member->offset);
      if (held) places.emplace_back(key, held);
    }
  }
}

/// Built-in containers whose copy() is of their own type and runs no code of the program.
bool is_container(PyObject* object) {
  static constexpr const char* names[] = {"collections.deque", "collections.OrderedDict", "collections.defaultdict"};
  const auto named = [&](const char* name) { return terra_class_is(Py_TYPE(object), name); };
  return PyList_CheckExact(object) || PyDict_CheckExact(object) || PyAnySet_CheckExact(object) ||
         PyByteArray_CheckExact(object) || std::any_of(std::begin(names), std::end(names), named);
}

/// Its contents as a list (new reference): of items, or of pairs.
PyObject* listed(PyObject* container) {
  return PyDict_Check(container) ? PyMapping_Items(container) : PySequence_List(container);
}

bool same_name(PyObject* a, PyObject* b) { return a == b || same_value(a, b); }

Places::iterator place_of(Places& places, PyObject* name) {
  return std::find_if(places.begin(), places.end(), [&](auto& place) { return same_name(place.first, name); });
}

}  // namespace

std::vector<PyObject*> attribute_dicts(PyObject* object) {
  std::vector<PyObject*> dicts;
  if (is_module(object)) {
    for (uint64_t part = 0; part < module_dict_count; part++) dicts.push_back(module_part(object, part));
  } else if (PyType_Check(object)) {
    dicts.push_back(terra_class_dict(reinterpret_cast<PyTypeObject*>(object)));
  } else {
    dicts.push_back(terra_instance_dict(object));
  }
  dicts.erase(std::remove(dicts.begin(), dicts.end(), nullptr), dicts.end());
  return dicts;
}

Places attributes_of(PyObject* object) {
  Places places;
  for (PyObject* dict : attribute_dicts(object)) add_dict(dict, places);
  if (!PyType_Check(object)) add_slots(object, places);
  return places;
}

std::unique_ptr<Picture> Picture::of(PyObject* object, std::string name) {
  std::unique_ptr<Picture> picture(new Picture(object, std::move(name)));
  if (is_container(object)) {
    picture->container_ = PyObject_CallMethod(object, "copy", nullptr);
    if (picture->container_) return picture;
    PyErr_Clear();
    return nullptr;
  }
  if (PyCell_Check(object)) {
    picture->content_ = Py_XNewRef(PyCell_GET(object));
    return picture;
  }
  const bool closed = !(Py_TYPE(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) && !PyFunction_Check(object);
  if (PyType_Check(object) ? !(reinterpret_cast<PyTypeObject*>(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) : closed) {
    return nullptr;
  }
  picture->attributes_ = attributes_of(object);
  for (auto& [key, value] : picture->attributes_) Py_INCREF(key), Py_INCREF(value);
  return picture;
}

Picture::~Picture() {
  for (auto& [key, value] : attributes_) Py_DECREF(key), Py_DECREF(value);
  Py_XDECREF(container_);
  Py_XDECREF(content_);
  Py_DECREF(object_);
}

void Picture::set_attribute(PyObject* name, PyObject* value) {
  auto place = place_of(attributes_, name);
  if (place != attributes_.end()) {
    Py_SETREF(place->second, Py_XNewRef(value));
    if (value) return;
    Py_DECREF(place->first);
    attributes_.erase(place);
  } else if (value) {
    attributes_.emplace_back(Py_NewRef(name), Py_NewRef(value));
  }
}

void Picture::set_cell(PyObject* value) { Py_XSETREF(content_, Py_XNewRef(value)); }

bool Picture::alike(Likeness& likeness) const {
  if (container_) {
    if (PyAnySet_Check(object_)) {
      const int same = PyObject_RichCompareBool(container_, object_, Py_EQ);
      if (same < 0) PyErr_Clear();
      return same != 0 || likeness.differs(name_, "other elements", "these elements");
    }
    PyObject *expected = likeness.keep(listed(container_)), *got = likeness.keep(listed(object_));
    likeness.made(expected);
    PyErr_Clear();
    return !expected || !got || likeness.alike(name_, expected, got);
  }
  if (PyCell_Check(object_)) return likeness.alike("cell " + name_, content_, PyCell_GET(object_));
  Places now = attributes_of(object_);
  for (auto& [name, value] : attributes_) {
    auto place = place_of(now, name);
    const std::string what = name_ + "." + utf8_of(name);
    if (!likeness.alike(what, value, place == now.end() ? nullptr : place->second)) return false;
    now.erase(place);
  }
  return now.empty() || likeness.alike(name_ + "." + utf8_of(now[0].first), nullptr, now[0].second);
}

}  // namespace terra::capture
