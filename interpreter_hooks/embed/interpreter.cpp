#include "interpreter_hooks/embed/interpreter.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <optional>

#include "interpreter_hooks/embed/package_finder.h"
#include "interpreter_hooks/embed/virtualenv.h"

namespace terra::embed {
namespace {

using Path = std::filesystem::path;

PyStatus set_path(PyConfig* config, wchar_t** field, const Path& path) {
  return PyConfig_SetBytesString(config, field, path.c_str());
}

// Without the prefixes Python would search upwards from this program for a standard library, and might find that of
// another interpreter of the same minor version.
PyStatus set_prefixes(PyConfig* config) {
  for (wchar_t** field : {&config->prefix, &config->exec_prefix}) {
    PyStatus status = set_path(config, field, TERRA_PYTHON_PREFIX);
    if (PyStatus_Exception(status)) return status;
  }
  return PyStatus_Ok();
}

// The site module recognises a virtual environment by sys.executable alone, so that name is borrowed until site has
// run; restore_executable gives it back, for children must run this program and not the environment's python.
PyStatus pose_as_python_of(const Path& environment, PyConfig* config) {
  return set_path(config, &config->executable, environment / "bin" / "python3");
}

bool restore_executable(const Path& program) {
  PyObject* path = PyUnicode_DecodeFSDefault(program.c_str());
  bool ok = path && PySys_SetObject("executable", path) == 0 && PySys_SetObject("_base_executable", path) == 0;
  Py_XDECREF(path);
  return ok;
}

PyStatus initialize(int argc, char** argv, const std::optional<Path>& environment) {
  PyPreConfig before;
  PyPreConfig_InitPythonConfig(&before);
  PyStatus status = Py_PreInitializeFromBytesArgs(&before, argc, argv);
  if (PyStatus_Exception(status)) return status;

  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  status = PyConfig_SetBytesArgv(&config, argc, argv);
  if (!PyStatus_Exception(status)) status = set_prefixes(&config);
  if (!PyStatus_Exception(status) && environment) status = pose_as_python_of(*environment, &config);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  return status;
}

}  // namespace

int run_main(int argc, char** argv, const RunOptions& options) {
  const Path program = program_path(argc > 0 ? argv[0] : "");
  const std::optional<Path> environment = active_virtualenv(program);

  PyStatus status = initialize(argc, argv, environment);
  if (PyStatus_IsExit(status)) return status.exitcode;
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);

  if ((environment && !restore_executable(program)) || !install_package_finders(options) ||
      (options.started && !options.started())) {
    PyErr_Print();
    return 1;
  }
  return Py_RunMain();
}

}  // namespace terra::embed
