// Every sample of every op record on the null device: the bits of the CPU, where the operands are.
#include <fstream>
#include <sstream>

#include "engine/ops/op.h"
#include "engine/tensor/transfer.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "tests/unit/interpreter_hooks/support.h"
#include "tests/unit/null_device.h"

using namespace terra;

namespace {

PyObject* there(PyObject*, PyObject* tensor) { return hooks::wrap(test::on_null_device(hooks::tensor_of(tensor))); }
PyObject* here(PyObject*, PyObject* tensor) { return hooks::wrap(to_host(hooks::tensor_of(tensor))); }

PyMethodDef functions[] = {{"there", there, METH_O, nullptr}, {"here", here, METH_O, nullptr}};

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The names of op_matrix.py.
class OnNullDevice : public capture::Names {
 public:
  OnNullDevice() {
    test::null_backend();
    const std::string source = TERRA_SOURCE;
    run("import sys\nsys.path[:0] = ['" + source + "/interpreter_hooks', '" + source + "/tests/python/ops']");
    for (PyMethodDef& function : functions) set(function.ml_name, PyCFunction_New(&function, nullptr));
    run(read(source + "/tests/unit/interpreter_hooks/device/op_matrix.py"));
  }
};

}  // namespace

TEST_CASE("samples of op records on the null device", "[device]") {
  const std::string mode = GENERATE("off", "auto");
  OnNullDevice names;
  for (const Op* op : all_ops()) {
    INFO(op->name << ", capture " << mode);
    CHECK(names.shown("failures('" + std::string(op->name) + "', '" + mode + "')") == "[]");
  }
}

TEST_CASE("a step that is captured learns the same on the null device", "[device]") {
  OnNullDevice names;
  const std::string replays = "terra.capture.stats()['replays']";
  names.run("import _terra_C\n_terra_C.capture_thrift(False)  # whether it pays or not\nbefore = " + replays +
            "\nlosses = trained(there)\nreplayed = " + replays + " - before\n_terra_C.capture_thrift(True)\n");
  CHECK(names.shown("all_close(losses, trained(lambda t: t), 1e-4, 1e-6)") == "True");
  CHECK(names.shown("replayed > 20") == "True");
}
