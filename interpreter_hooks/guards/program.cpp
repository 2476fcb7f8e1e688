#include "interpreter_hooks/guards/program.h"

#include "interpreter_hooks/guards/kinds.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/watched.h"

namespace terra::capture {

RegisterFile::RegisterFile() = default;

RegisterFile::~RegisterFile() {
  for (PyObject* object : constants_) Py_DECREF(object);
  for (PyObject* object : kept_) Py_XDECREF(object);
  for (PyObject* object : watched_) unwatch(object, *this);
}

Register RegisterFile::add(std::string name, bool owned) {
  if (names_.size() == most_registers) {
    spoilt_ = true;
    return 0;
  }
  names_.push_back(std::move(name));
  owned_.push_back(owned);
  Register r = static_cast<Register>(names_.size() - 1);
  if (owned) owned_list_.push_back(r);
  return r;
}

Register RegisterFile::constant(PyObject* object) {
  if (constants_.size() == most_constants) {
    spoilt_ = true;
    return -1;
  }
  constants_.push_back(Py_NewRef(object));
  return static_cast<Register>(-static_cast<int>(constants_.size()));
}

void RegisterFile::watch_object(PyObject* object) {
  if (capture::watch(object, *this)) {
    watched_.push_back(object);
  } else {
    keep(object);
  }
}

PyObject* RegisterFile::keep_globals(PyFunctionObject* function, bool alone) {
  if (alone)
    watch(function);
  else
    keep(function->func_globals);
  return function->func_globals;
}

void RegisterFile::lose(PyObject* object) {
  if (!stale_) files_gone_stale++;
  stale_ = true;
  std::erase(watched_, object);
  for (auto& facts : classes_) {
    if (reinterpret_cast<PyObject*>(facts->type) == object) facts->type = nullptr;
  }
}

ClassFacts* RegisterFile::keep(std::unique_ptr<ClassFacts> facts) {
  watch(facts->type);
  classes_.push_back(std::move(facts));
  return classes_.back().get();
}

TensorFacts* RegisterFile::keep(std::unique_ptr<TensorFacts> facts) {
  tensors_.push_back(std::move(facts));
  return tensors_.back().get();
}

std::string RegisterFile::name(Register r) const {
  if (r < 0) return short_text(constants_[-1 - r]);
  return names_[r].empty() ? "%" + std::to_string(r) : names_[r];
}

PyObject** RegisterFile::prepare(PyObject** space) const {
  size_t count = constants_.size();
  for (size_t i = 0; i < count; i++) space[count - 1 - i] = constants_[i];
  PyObject** registers = space + count;
  for (Register r : owned_list_) registers[r] = nullptr;
  return registers;
}

void RegisterFile::release(PyObject** registers) const {
  for (Register r : owned_list_) Py_CLEAR(registers[r]);
}

void Program::emit_code(uint8_t kind, Register dst, Register a, Register b, const std::vector<Word>& operands) {
  if (operands.size() > most_operands) {
    spoilt_ = true;
    return;
  }
  words_.push_back(word_of(Head{kind, static_cast<uint8_t>(1 + operands.size()), dst, a, b}));
  words_.insert(words_.end(), operands.begin(), operands.end());
}

int Program::run_failing(Run& run, int fail) {
  for (Word *at = words_.data(), *end = at + words_.size(); at != end; at += head(at).words) {
    const Kind& kind = table_[head(at).kind];
    bool chosen = kind.guard && fail-- == 0;
    if (!kind.holds(at, run) || chosen) return static_cast<int>(at - words_.data());
  }
  return -1;
}

int Program::guards() const {
  int count = 0;
  each([&](const Word* at) { count += table_[head(at).kind].guard; });
  return count;
}

std::string Program::text(int offset, const RegisterFile& file) const {
  return table_[head(at(offset)).kind].text(at(offset), file);
}

std::vector<std::string> Program::texts(const RegisterFile& file, bool guards_only) const {
  std::vector<std::string> texts;
  each([&](const Word* at) {
    const Kind& kind = table_[head(at).kind];
    if (kind.guard || !guards_only) texts.push_back(kind.text(at, file));
  });
  return texts;
}

}  // namespace terra::capture
