// The loops of the program's text.
#pragma once
#include <Python.h>

#include <compare>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/coexec/location.h"
#include "interpreter_hooks/bindings/object.h"

namespace terra::coexec {

/// A line of the program's text.
struct SourceLine {
  std::string file;
  int line = 0;
  friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};
/// The line of an instruction (code units).
SourceLine source_line(PyCodeObject* code, int instruction);

/// A loop is what lies between a jump back and where it goes.
class CodeLoops {
 public:
  /// Around an instruction (code units), innermost last. Valid as long as this object.
  std::span<const LoopId> around(PyCodeObject* code, int instruction);

  /// Where the loop begins.
  SourceLine place_of(LoopId loop) const;

 private:
  struct Loop {
    int begin = 0, end = 0;
    LoopId id = 0;
  };
  struct OfCode {
    hooks::Object code;       ///< kept, so that another one can't take its place
    std::vector<Loop> loops;  ///< outer ones first
    std::unordered_map<int, std::vector<LoopId>> around;
  };
  OfCode& of(PyCodeObject* code);

  std::unordered_map<PyCodeObject*, OfCode> codes_;
  std::vector<std::pair<PyCodeObject*, int>> begins_;  ///< by loop
};

}  // namespace terra::coexec
