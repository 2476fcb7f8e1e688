// What a mutable object of the program holds at one moment.
#pragma once
#include "interpreter_hooks/effects/likeness.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace terra::capture {

/// Attributes that are in the object itself, as (name, value), borrowed: its dict in order, its slots, and what a
/// terra.nn.Module keeps in its own dicts.
std::vector<std::pair<PyObject*, PyObject*>> attributes_of(PyObject* object);
/// The dicts among the places that those come from, borrowed.
std::vector<PyObject*> attribute_dicts(PyObject* object);

/// Holds strong references to everything it shows. Deferred writes can be applied to a picture in place of the object;
/// afterwards it says whether the object has come to look like that.
class Picture {
 public:
  /// Null for objects without places to write to.
  static std::unique_ptr<Picture> of(PyObject* object, std::string name);
  ~Picture();
  Picture(const Picture&) = delete;

  /// Of a container: a copy of the same type, to be changed by the container's own methods. Else null.
  PyObject* container() const { return container_; }
  /// Null deletes.
  void set_attribute(PyObject* name, PyObject* value);
  void set_cell(PyObject* value);

  bool alike(Likeness& likeness) const;

 private:
  Picture(PyObject* object, std::string name) : object_(Py_NewRef(object)), name_(std::move(name)) {}

  PyObject* object_;
  std::string name_;
  PyObject* container_ = nullptr;
  PyObject* content_ = nullptr;  ///< of a cell
  std::vector<std::pair<PyObject*, PyObject*>> attributes_;
};

}  // namespace terra::capture
