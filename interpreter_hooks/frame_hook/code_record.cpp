#include "interpreter_hooks/frame_hook/code_record.h"

#include <algorithm>
#include <cstring>

namespace terra::capture {

namespace {

std::vector<std::shared_ptr<CodeRecord>>& records() {
  static auto* list = new std::vector<std::shared_ptr<CodeRecord>>;  // outlives every code object
  return *list;
}

/// The code object dies: its entries go, what the report says of it stays.
void release(void* record) {
  if (record) static_cast<CodeRecord*>(record)->entries.clear();
}

Py_ssize_t slot() {
  static Py_ssize_t index = _PyEval_RequestCodeExtraIndex(release);
  return index;
}

}  // namespace

const char* state_name(State state) {
  static constexpr const char* names[] = {"cold", "hot", "captured", "settled", "given up"};
  return names[static_cast<int>(state)];
}

CodeRecord* find_record(PyCodeObject* code) {
  void* extra = nullptr;
  if (slot() < 0 || _PyCode_GetExtra(reinterpret_cast<PyObject*>(code), slot(), &extra) < 0) PyErr_Clear();
  return static_cast<CodeRecord*>(extra);
}

CodeRecord* record_of(PyCodeObject* code) {
  if (CodeRecord* known = find_record(code)) return known;
  if (slot() < 0) return nullptr;
  auto record = std::make_shared<CodeRecord>();
  record->name = PyUnicode_AsUTF8(code->co_qualname);
  record->file = PyUnicode_AsUTF8(code->co_filename);
  record->line = code->co_firstlineno;
  constexpr int wanted = CO_OPTIMIZED | CO_NEWLOCALS;
  constexpr int refused = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  record->eligible = (code->co_flags & wanted) == wanted && !(code->co_flags & refused) && record->name != "<module>" &&
                     record->file.compare(0, 7, "<frozen") != 0;
  if (!record->eligible) record->why = {Reason::NotEligible, "", record->file, record->line};
  if (_PyCode_SetExtra(reinterpret_cast<PyObject*>(code), slot(), record.get()) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  records().push_back(record);
  return record.get();
}

const std::vector<std::shared_ptr<CodeRecord>>& all_records() { return records(); }

void reset_records() {
  for (auto& record : records()) {
    auto dropped = std::move(record->entries);
    CodeRecord fresh;
    fresh.name = record->name;
    fresh.file = record->file;
    fresh.line = record->line;
    fresh.eligible = record->eligible;
    if (!fresh.eligible) fresh.why = record->why;
    *record = std::move(fresh);
  }
}

}  // namespace terra::capture
