#include "interpreter_hooks/guards/text.h"

namespace terra::capture {

std::string utf8_of(PyObject* text) {
  if (const char* valid = PyUnicode_AsUTF8(text)) return valid;
  PyErr_Clear();
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  if (!bytes) {
    PyErr_Clear();
    return "?";
  }
  std::string result(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
  Py_DECREF(bytes);
  return result;
}

std::string name_of_module(PyObject* module) {
  PyObject* name = PyModule_GetNameObject(module);
  PyErr_Clear();
  const std::string text = name ? utf8_of(name) : "a module without a name";
  Py_XDECREF(name);
  return text;
}

}  // namespace terra::capture
