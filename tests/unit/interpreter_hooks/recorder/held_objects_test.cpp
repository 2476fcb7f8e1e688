// What a recording keeps alive: counted, let go one by one, and handed over in the order in which it was taken.
#include "tests/unit/interpreter_hooks/support.h"

#include "interpreter_hooks/recorder/core/held_objects.h"

using namespace terra::capture;

TEST_CASE("references are counted and handed over in order", "[held_objects]") {
  Names names("a, b, c = object(), object(), object()");
  PyObject *a = names["a"], *b = names["b"], *c = names["c"];
  const Py_ssize_t before = Py_REFCNT(a);
  HeldObjects held;
  for (PyObject* object : {a, b, a, c, a}) held.hold(object);
  CHECK(held.times(a) == 3);
  CHECK(held.times(b) == 1);
  CHECK(held.times(Py_None) == 0);
  CHECK(Py_REFCNT(a) == before + 3);
  held.let_go(a);
  held.let_go(Py_None);
  CHECK(held.times(a) == 2);
  CHECK(Py_REFCNT(a) == before + 2);
  held.hold(a);
  const std::vector<PyObject*> all = held.take();
  CHECK(all == std::vector<PyObject*>{b, a, c, a, a});
  CHECK(held.times(a) == 0);
  CHECK(held.take().empty());
  for (PyObject* object : all) Py_DECREF(object);
  CHECK(Py_REFCNT(a) == before);
}

TEST_CASE("what has been let go may die, and another object may come to its address", "[held_objects]") {
  Names names;
  HeldObjects held;
  PyObject* first = PyList_New(0);
  held.hold(first);
  Py_DECREF(first);
  for (int i = 0; i < 20; i++) {
    PyObject* object = PyList_New(0);
    held.hold(object);
    Py_DECREF(object);
    if (i % 2) held.let_go(object);
  }
  const std::vector<PyObject*> all = held.take();
  CHECK(all.size() == 11);
  for (PyObject* object : all) Py_DECREF(object);
}
