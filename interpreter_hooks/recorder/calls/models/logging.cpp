// Records of the logging module, put off like print: made and handled once the run has been committed, with the place
// in the program that the call has. The methods of the module that lead there are followed; from Logger._log on, which
// looks for that place in the frames, nothing is watched.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/core/lines.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

#include <cstring>
#include <string_view>

namespace terra::capture {

namespace {

/// What the module was when it was first looked at; null before the program has imported it.
struct LoggingModule {
  PyObject* dict = nullptr;  // borrowed: the module stays
  PyObject* log = nullptr;   // the code of Logger._log, and of what takes and gives back the module's lock
  PyObject *lock = nullptr, *unlock = nullptr;
  PyObject* file = nullptr;  // the module's own frames are passed over
};
const LoggingModule& logging_module() {
  static LoggingModule known;
  if (known.log) return known;
  static PyObject* const name = PyUnicode_InternFromString("logging");
  PyObject* module = PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
  PyObject* dict = module && PyModule_Check(module) ? PyModule_GetDict(module) : nullptr;
  PyObject* logger = dict ? PyDict_GetItemString(dict, "Logger") : nullptr;
  if (!logger || !PyType_Check(logger)) return known;
  PyObject* log = PyDict_GetItemString(terra_class_dict(reinterpret_cast<PyTypeObject*>(logger)), "_log");
  PyObject *lock = PyDict_GetItemString(dict, "_acquireLock"), *unlock = PyDict_GetItemString(dict, "_releaseLock");
  PyObject* file = PyDict_GetItemString(dict, "_srcfile");
  for (PyObject* function : {log, lock, unlock}) {
    if (!function || !PyFunction_Check(function)) return known;
  }
  if (!file || !PyUnicode_Check(file)) return known;
  Py_INCREF(module);
  const auto code = [](PyObject* function) { return Py_NewRef(PyFunction_GET_CODE(function)); };
  known = {dict, code(log), code(lock), code(unlock), Py_NewRef(file)};
  return known;
}

bool is_of_module(PyObject* object, std::initializer_list<const char*> classes) {
  for (const char* name : classes) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) == PyDict_GetItemString(logging_module().dict, name)) return true;
  }
  return false;
}

/// The methods are those that the module defines: nobody has put others in their place.
bool has_own_methods(PyObject* object, std::initializer_list<const char*> methods) {
  for (const char* name : methods) {
    PyObject* text = PyUnicode_InternFromString(name);
    PyObject* found = text ? _PyType_Lookup(Py_TYPE(object), text) : nullptr;
    const bool own = found && PyFunction_Check(found) && PyFunction_GET_GLOBALS(found) == logging_module().dict &&
                     !terra_instance_attribute(object, text);
    Py_XDECREF(text);
    if (!own) return false;
  }
  return true;
}

PyObject* field(PyObject* object, const char* name) {
  PyObject* text = PyUnicode_InternFromString(name);
  PyObject* found = text ? terra_instance_attribute(object, text) : nullptr;
  Py_XDECREF(text);
  return found;
}

bool is_empty_list(PyObject* list) { return list && PyList_CheckExact(list) && PyList_GET_SIZE(list) == 0; }

/// Formats with nothing but the code of the module.
bool is_plain_formatter(PyObject* formatter) {
  if (!formatter || formatter == Py_None) return true;
  if (!is_of_module(formatter, {"Formatter"})) return false;
  static PyObject* const converter = PyUnicode_InternFromString("converter");
  PyObject *style = field(formatter, "_style"), *clock = _PyType_Lookup(Py_TYPE(formatter), converter);
  return style && is_of_module(style, {"PercentStyle", "StrFormatStyle", "StringTemplateStyle"}) && clock &&
         PyCFunction_Check(clock) && !field(formatter, "converter") &&
         has_own_methods(formatter, {"format", "formatTime", "formatMessage", "usesTime"}) &&
         has_own_methods(style, {"format", "_format", "usesTime"});
}

/// Writes a line to a stream and runs none of the program's code.
bool is_plain_handler(PyObject* handler) {
  if (is_of_module(handler, {"NullHandler"})) return has_own_methods(handler, {"handle"});
  PyObject* stream = field(handler, "stream");
  if (is_of_module(handler, {"_StderrHandler"})) stream = PySys_GetObject("stderr");
  const bool known =
      is_of_module(handler, {"_StderrHandler"}) || is_of_module(handler, {"StreamHandler", "FileHandler"});
  return known && stream && is_plain_stream(stream) && is_empty_list(field(handler, "filters")) &&
         is_plain_formatter(field(handler, "formatter")) &&
         has_own_methods(handler, {"handle", "emit", "format", "filter", "acquire", "release", "flush"});
}

bool all_handlers_are_plain(PyObject* logger) {
  PyObject* factory = PyDict_GetItemString(logging_module().dict, "_logRecordFactory");
  if (!factory || factory != PyDict_GetItemString(logging_module().dict, "LogRecord")) return false;
  PyObject* own[] = {PyDict_GetItemString(logging_module().dict, "_defaultFormatter"),
                     PyDict_GetItemString(logging_module().dict, "lastResort")};
  if (!is_plain_formatter(own[0]) || !own[1] || (own[1] != Py_None && !is_plain_handler(own[1]))) return false;
  for (int depth = 0; logger && logger != Py_None; depth++) {
    if (depth > 32 || !is_of_module(logger, {"Logger", "RootLogger"})) return false;
    if (!has_own_methods(logger, {"makeRecord", "handle", "filter", "callHandlers"})) return false;
    if (!is_empty_list(field(logger, "filters"))) return false;
    PyObject *handlers = field(logger, "handlers"), *onwards = field(logger, "propagate");
    if (!handlers || !PyList_CheckExact(handlers) || !onwards) return false;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(handlers); i++) {
      if (!is_plain_handler(PyList_GET_ITEM(handlers, i))) return false;
    }
    if (onwards != Py_True) return onwards == Py_False || onwards == Py_None || PyLong_CheckExact(onwards);
    logger = field(logger, "parent");
  }
  return true;
}

/// (logger): asked by the entry program.
PyObject* logs_plainly(PyObject*, PyObject* const* given, Py_ssize_t) {
  const bool plain = all_handlers_are_plain(given[0]);
  PyErr_Clear();
  return PyBool_FromLong(plain);
}

/// (logger, level, file, line, function, message, arguments): what Logger._log does once it has found the place.
PyObject* write_record(PyObject*, PyObject* const* given, Py_ssize_t) {
  PyObject* name = PyObject_GetAttrString(given[0], "name");
  PyObject* record = name ? PyObject_CallMethod(given[0], "makeRecord", "OOOOOOOOOO", name, given[1], given[2],
                                                given[3], given[5], given[6], Py_None, given[4], Py_None, Py_None)
                          : nullptr;
  PyObject* done = record ? PyObject_CallMethod(given[0], "handle", "O", record) : nullptr;
  Py_XDECREF(name);
  Py_XDECREF(record);
  return done;
}

Value end_log(Recording& r, ShadowFrame& f, PyObject* result) {
  PyObject* writes = c_function<write_record>("write_record");
  r.write({Effect::CallMethod, Value::fact(Py_None), writes, {}, arguments(f), "", {}});
  return Value::fact(result);
}

constexpr CallModel model = {"logging", "_log", nullptr, end_log, kUnseen};
/// What is done between taking the lock and giving it back is done by effects, between which nothing else runs.
constexpr CallModel lock_model = {"logging", "_acquireLock", nullptr, end_fact, kUnseen};

/// The innermost frame that isn't the module's own.
ShadowFrame* place_of_call(Recording& r) {
  for (auto frame = r.frames().rbegin(); frame != r.frames().rend(); ++frame) {
    if (PyUnicode_Compare((*frame)->code->co_filename, logging_module().file) != 0) return *frame;
  }
  return nullptr;
}

}  // namespace

bool open_logging(Recording& r, ShadowFrame& f) {
  CallSite& site = f.pending.call;
  auto& in = site.positional;
  PyObject* code = PyFunction_GET_CODE(site.callee);
  if (!logging_module().log) return false;
  if (code == logging_module().lock || code == logging_module().unlock) {
    site.kind = CallSite::Model;
    site.model = &lock_model;
    return true;
  }
  const bool is_log = code == logging_module().log;
  if (!is_log || in.size() != 4 || !site.keywords.empty() || !PyTuple_CheckExact(in[3].object)) return false;
  ShadowFrame* place = place_of_call(r);
  if (!place || !PyUnicode_CheckExact(in[2].object) || !is_number(in[1].object)) return false;
  if (!all_atoms(r.items(in[3])) || !all_handlers_are_plain(in[0].object)) return false;
  PyObject* asks = c_function<logs_plainly>("logs_plainly");
  std::vector<Word> words = call_operands(r.file(), asks, {r.reg_of(in[0])});
  Value plain = r.host(Op::Call, no_register, no_register, std::move(words), Py_True, {in[0]});
  r.pin(plain);
  const int line = line_of(*place);
  PyObject* number = PyLong_FromLong(line);
  in = {in[0],
        in[1],
        Value::fact(r.hold(place->code->co_filename)),
        Value::fact(r.hold(number)),
        Value::fact(r.hold(place->code->co_name)),
        in[2],
        in[3]};
  Py_DECREF(number);
  site.kind = CallSite::Model;
  site.model = &model;
  return true;
}

}  // namespace terra::capture
