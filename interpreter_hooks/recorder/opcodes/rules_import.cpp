// Imports inside the frame: of modules that are loaded. That sys.modules holds them is a fact; loading one is not
// captured.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <cstring>
#include <string>

namespace terra::capture {

namespace {

/// sys.modules[name], read as a fact; null where it isn't there.
PyObject* loaded(Recording& r, const std::string& name) {
  Value modules = dict_of_program(r, PyImport_GetModuleDict(), "sys.modules");
  Value module = r.dict_item(modules, r.hold_new(PyUnicode_FromString(name.c_str())));
  return module.known() && PyModule_Check(module.object) ? module.object : nullptr;
}

/// Replacing __import__ replaces what the statement means.
bool is_own_import(Recording& r, ShadowFrame& f) {
  static PyObject* name = PyUnicode_InternFromString("__import__");
  Value builtins = dict_of_program(r, f.callee()->func_builtins, "builtins");
  Value import = r.dict_item(builtins, name);
  if (!import.known() || !PyCFunction_Check(import.object)) return false;
  return !std::strcmp(reinterpret_cast<PyCFunctionObject*>(import.object)->m_ml->ml_name, "__import__");
}

/// The whole name of what `from ..name import` means in a package; empty where it can't be said.
std::string absolute_name(Recording& r, ShadowFrame& f, const std::string& name, long level) {
  if (level == 0) return name;
  static PyObject *key = PyUnicode_InternFromString("__package__"), *spec = PyUnicode_InternFromString("__spec__");
  Value globals = dict_of_program(r, f.callee()->func_globals, "globals()");
  Value package = r.dict_item(globals, key);
  r.dict_item(globals, spec);  // whose parent CPython compares with the package, in Python
  if (!package.known() || !PyUnicode_CheckExact(package.object)) return "";
  r.pin(package);
  std::string whole = utf8_of(package.object);
  for (; level > 1; level--) {
    const size_t dot = whole.rfind('.');
    if (dot == std::string::npos) return "";
    whole.resize(dot);
  }
  return name.empty() ? whole : whole + "." + name;
}

/// Operands: level, names to take from the module. The result is the module, or its outermost package.
void begin_import(Recording& r, ShadowFrame& f) {
  const long level = PyLong_AsLong(f.pending.in[0].object);
  const bool outermost = f.pending.in[1].object == Py_None;
  const std::string name = absolute_name(r, f, utf8_of(f.name(f.pending.arg)), level);
  if (name.empty() || !is_own_import(r, f)) return r.stop(Reason::Import, utf8_of(f.name(f.pending.arg)));
  PyObject* module = nullptr;
  for (size_t end = name.find('.'); r.alive(); end = name.find('.', end + 1)) {
    PyObject* part = loaded(r, name.substr(0, end));
    if (!part) return r.stop(Reason::Import, name);
    if (!module || !outermost) module = part;
    if (end == std::string::npos) break;
  }
  f.pending.extra = Value::fact(module);
}
void import_name(Recording& r, ShadowFrame& f) {
  f.pending.used_returns = true;  // a package's names go through a function of importlib
  if (f.real(1) != f.pending.extra.object) return r.stop(Reason::Import, utf8_of(f.name(f.pending.arg)));
  f.push(f.pending.extra);
}

void import_from(Recording& r, ShadowFrame& f) {
  Value owner = f.top();
  PyObject* name = f.name(f.pending.arg);
  if (!PyModule_CheckExact(owner.object)) return r.stop(Reason::Import, utf8_of(name));
  Value dict = dict_of_module(r, owner.object);
  Value value = r.dict_item(dict, name);
  if (!value.known() || value.object != f.real(1)) return r.stop(Reason::Import, utf8_of(name));
  f.push(value);
}

constexpr Rule rules[] = {
    {TERRA_IMPORT_NAME, begin_import, import_name},
    {TERRA_IMPORT_FROM, nullptr, import_from},
};

}  // namespace

RuleList import_rules() { return {rules, std::size(rules)}; }

}  // namespace terra::capture
