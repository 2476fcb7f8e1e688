// What a cut needs of its neighbours: iterators rebuilt at their place, frames that start in the middle.
#include <catch2/catch.hpp>

#include "interpreter_hooks/effects/effects.h"
#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/recorder/core/cuts.h"

#include <string>

using namespace terra::capture;

namespace {

/// What is left of the iterator that a MakeIterator effect makes, as repr of a list.
std::string rest(const char* expression, Walk walk, Word index) {
  PyObject* globals = PyDict_New();
  PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
  PyObject* base = PyRun_String(expression, Py_eval_input, globals, globals);
  REQUIRE(base);
  RegisterFile file;
  EffectProgram effects;
  Register made = file.add("made", true);
  effects.emit(Effect::MakeIterator, made, file.constant(base), no_register, {walk, index});
  effects.finish({made, no_register}, Program(kinds), file);
  std::vector<PyObject*> space(file.words());
  Run run{file.prepare(space.data())};
  PyObject* results[2] = {base, base};
  REQUIRE(effects.run(run, results));
  CHECK(results[1] == nullptr);
  file.release(run.registers);
  PyObject* list = PySequence_List(results[0]);
  REQUIRE(list);
  PyObject* shown = PyObject_Repr(list);
  std::string text = PyUnicode_AsUTF8(shown);
  for (PyObject* object : {shown, list, results[0], base, globals}) Py_DECREF(object);
  return text;
}

/// Frames of `target` go on at `instruction` with 40 on their stack.
int instruction = -1;

PyObject* evaluate(PyThreadState* thread, TerraFrame* frame, int throwing) {
  const char* name = PyUnicode_AsUTF8(terra_frame_code(frame)->co_name);
  if (!throwing && std::string(name) == "target" && instruction >= 0) {
    terra_frame_localsplus(frame)[1] = PyLong_FromLong(40);  // the local before it stays unbound
    terra_frame_continue_at(frame, instruction, 1);
  }
  return terra_frame_run(thread, frame, throwing);
}

}  // namespace

TEST_CASE("an iterator is rebuilt behind what it has yielded") {
  Py_Initialize();
  CHECK(rest("[1, 2, 3]", walk_plain, 0) == "[1, 2, 3]");
  CHECK(rest("[1, 2, 3]", walk_plain, 2) == "[3]");
  CHECK(rest("(1, 2, 3)", walk_plain, 3) == "[]");
  CHECK(rest("range(10, 0, -3)", walk_plain, 1) == "[7, 4, 1]");
  CHECK(rest("[1, 2, 3]", walk_reversed, 1) == "[2, 1]");
  CHECK(rest("(1, 2, 3)", walk_reversed, 3) == "[]");
  CHECK(rest("{'a': 1, 'b': 2}", walk_plain, 1) == "['b']");
  CHECK(rest("{'a': 1, 'b': 2}", walk_values, 1) == "[2]");
  CHECK(rest("{'a': 1, 'b': 2}", walk_items, 1) == "[('b', 2)]");
}

TEST_CASE("a frame that has not started goes on at an instruction in its middle") {
  Py_Initialize();
  PyObject* globals = PyDict_New();
  PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
  const char* source =
      "def target():\n"
      "    x = missing\n"
      "    return x + other\n"
      "import dis\n"
      "at = [i.offset // 2 for i in dis.get_instructions(target) if i.argval == 'other'][0]\n";
  REQUIRE(PyRun_String(source, Py_file_input, globals, globals));
  terra_hook_install(evaluate, nullptr);
  instruction = static_cast<int>(PyLong_AsLong(PyDict_GetItemString(globals, "at")));
  PyObject* result = PyRun_String("target()", Py_eval_input, globals, globals);
  CHECK(result == nullptr);  // NameError: other
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  CHECK(PyErr_GivenExceptionMatches(type, PyExc_NameError));
  auto* inner = reinterpret_cast<PyTracebackObject*>(traceback)->tb_next;
  REQUIRE(inner);
  CHECK(inner->tb_lineno == 3);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  PyDict_SetItemString(globals, "other", PyLong_FromLong(2));
  result = PyRun_String("target()", Py_eval_input, globals, globals);
  REQUIRE(result);
  CHECK(PyLong_AsLong(result) == 42);
  Py_DECREF(result);
  instruction = -1;
  terra_hook_uninstall();
  Py_DECREF(globals);
}

TEST_CASE("an exception that leaves the frame is no reason to cut it") {
  CHECK(allows_cut(Reason::UnmodelledCall));
  CHECK(allows_cut(Reason::TensorOpaque));
  CHECK_FALSE(allows_cut(Reason::None));
  CHECK_FALSE(allows_cut(Reason::FrameRaised));
  CHECK_FALSE(allows_cut(Reason::Internal));
}
