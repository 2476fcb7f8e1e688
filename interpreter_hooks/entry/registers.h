// The registers of one run of an entry.
#pragma once
#include "interpreter_hooks/guards/program.h"

#include <vector>

namespace terra::capture {

/// On the stack of its owner unless the entry is very long.
class Registers {
 public:
  explicit Registers(const RegisterFile& file) : file_(file) {
    if (file.words() > inline_words) heap_.resize(file.words());
    first_ = file.prepare(heap_.empty() ? inline_ : heap_.data());
  }
  ~Registers() { file_.release(first_); }
  Registers(const Registers&) = delete;
  PyObject** first() { return first_; }

 private:
  static constexpr size_t inline_words = 2048;
  const RegisterFile& file_;
  PyObject* inline_[inline_words];
  std::vector<PyObject*> heap_;
  PyObject** first_;
};

}  // namespace terra::capture
