// The hook in a running interpreter: frames and direct calls are served from entries, and not when they must not be.
#include "tests/unit/interpreter_hooks/support.h"

#include "interpreter_hooks/bindings/calls/time_line.h"
#include "interpreter_hooks/cpython/function.h"
#include "interpreter_hooks/frame_hook/code_record.h"
#include "interpreter_hooks/frame_hook/hook.h"
#include "interpreter_hooks/frame_hook/mode.h"

using namespace terra::capture;

namespace {

/// The hook records everything while it lives.
struct Stress {
  Stress() {
    settings() = Settings();
    set_mode(Mode::Stress);
  }
  ~Stress() {
    set_mode(Mode::Off);
    reset_records();
  }
};

CodeRecord& record(Names& names, const char* function) {
  CodeRecord* found = find_record(reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(names[function])));
  REQUIRE(found);
  return *found;
}

constexpr const char* program =
    "import sys\n"
    "class Box: pass\n"
    "box = Box(); box.n = 0; box.scale = 2\n"
    "def f(x, y=10):\n"
    "    box.n = box.n + 1\n"
    "    return x * box.scale + y\n";

}  // namespace

TEST_CASE("calls are served, with their effects, until a fact changes", "[serve]") {
  Names names(program);
  const Stress stress;
  names.run("r = [f(i) for i in range(12)]");
  CHECK(names.shown("r") == "[10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32]");
  CHECK(names.shown("box.n") == "12");
  CHECK(record(names, "f").hits > 0);
  names.run("box.scale = 3\nr = [f(i) for i in range(4)]");
  CHECK(names.shown("r") == "[10, 13, 16, 19]");
  CHECK(names.shown("box.n") == "16");
  CHECK(record(names, "f").state != State::GivenUp);
}

TEST_CASE("direct calls fill in defaults, those of the moment", "[direct_call]") {
  Names names(program);
  const Stress stress;
  names.run("for i in range(12): f(i)");
  REQUIRE(record(names, "f").hits > 0);
  CHECK(names.shown("[f(1), f(1, 2), f(1, y=3), f(x=1)]") == "[12, 4, 5, 12]");
  names.run("f.__defaults__ = (100,)");
  CHECK(names.shown("[f(i) for i in range(4)]") == "[100, 102, 104, 106]");
  names.run("f.__defaults__ = (1, 2, 3, 4)");  // more than it has parameters
  CHECK(names.shown("[f(), f(5), f(5, 6)]") == "[10, 14, 16]");
  names.run("f.__defaults__ = None");
  names.run(
      "try: f(1)\n"
      "except TypeError as error: message = str(error)\n");
  CHECK(names.shown("message") == "\"f() missing 1 required positional argument: 'y'\"");
}

TEST_CASE("another code object behind the same function is another function", "[direct_call]") {
  Names names(program);
  names.run("def g(x, y=10): return -x\n");
  const Stress stress;
  names.run("for i in range(12): f(i)");
  names.run("f.__code__ = g.__code__");
  CHECK(names.shown("[f(i) for i in range(4)]") == "[0, -1, -2, -3]");
}

TEST_CASE("the recursion limit holds where nothing recurses any more", "[serve]") {
  Names names(
      "import sys\n"
      "def g(n): return n\n"
      "for _ in range(40):\n"
      "    exec('def g(n, g=g): return g(n)')\n"
      "def deep(n):\n"
      "    return g(n)\n"
      "def attempt():\n"
      "    limit = sys.getrecursionlimit()\n"
      "    try:\n"
      "        sys.setrecursionlimit(30)\n"
      "        return deep(7)\n"
      "    except RecursionError: return 'too deep'\n"
      "    finally: sys.setrecursionlimit(limit)\n");
  CHECK(names.shown("attempt()") == "'too deep'");
  const Stress stress;
  CHECK(names.shown("[deep(i) for i in range(8)]") == "[0, 1, 2, 3, 4, 5, 6, 7]");
  REQUIRE(record(names, "deep").hits > 0);
  CHECK(names.shown("attempt()") == "'too deep'");
  CHECK(names.shown("deep(8)") == "8");
}

TEST_CASE("two references that a frame drops together are its last", "[serve]") {
  Names names(
      "order = []\n"
      "class Loud:\n"
      "    def __del__(self, order=order): order.append('gone')\n"
      "class S: pass\n"
      "s = S()\n"
      "def f():\n"
      "    s.a = None\n"
      "    s.b = None\n"
      "    s.n = len(order)\n"
      "keep = Loud()\n");
  const Stress stress;
  names.run("for i in range(8): s.a = s.b = keep; f()");
  CHECK(record(names, "f").hits > 0);
  names.run("order.clear()\ns.a = s.b = Loud(); f()");
  CHECK(names.shown("s.n, order") == "(1, ['gone'])");
}

TEST_CASE("two items that a frame pops", "[serve]") {
  Names names(
      "order = []\n"
      "class Loud:\n"
      "    def __del__(self, order=order): order.append('gone')\n"
      "class S: pass\n"
      "s = S()\n"
      "def f(l):\n"
      "    l.pop()\n"
      "    l.pop()\n"
      "    s.n = len(order)\n");
  const Stress stress;
  names.run("for i in range(8): f([1, 2, 3])");
  CHECK(record(names, "f").hits > 0);
  names.run("order.clear()\nf([1, Loud(), 3])");
  CHECK(names.shown("s.n, order") == "(1, ['gone'])");
  names.run("order.clear()\nx = Loud(); l = [1, x, x]; del x; f(l)");
  CHECK(names.shown("s.n, order") == "(1, ['gone'])");
}

TEST_CASE("the time line tells what became of frames", "[time_line]") {
  Names names(program);
  start_time_line();
  {
    const Stress stress;
    names.run("for i in range(12): f(i)");
    names.run("box.scale = 5\nf(1)");
  }
  time_line_on = false;
  const std::string json = time_line_json();
  PyObject* text = PyUnicode_FromString(json.c_str());
  PyDict_SetItemString(PyFunction_GET_GLOBALS(names["f"]), "text", text);
  names.run("import json\nevents = [e for e in json.loads(text)['traceEvents'] if e['name'] == 'f']");
  CHECK(names.shown("{'recorded', 'direct'} <= {e['cat'] for e in events}") == "True");
  CHECK(names.shown("all(e['ph'] == 'X' and 0 <= e['args']['self_us'] <= e['dur'] for e in events)") == "True");
  Py_DECREF(text);
}
