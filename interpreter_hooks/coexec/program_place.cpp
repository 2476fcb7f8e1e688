#include "interpreter_hooks/coexec/program_place.h"

#include <algorithm>

#include "interpreter_hooks/cpython/frame.h"
#include "interpreter_hooks/cpython/instructions.h"

namespace terra::coexec {
namespace {

/// A call runs inside of CALL at first, and inside of the PRECALL before it once it has been specialised (3.11).
int call_site(const TerraFrame* frame) {
  const int at = terra_frame_instruction(frame);
  const TerraInstruction* instructions = at < 0 ? nullptr : terra_instructions(terra_frame_code(frame));
  return instructions && instructions[at].kind == TERRA_PRECALL ? instructions[at].next : at;
}

}  // namespace

uint64_t place_word() {
  uint64_t word = 0;
  size_t depth = 0;
  const TerraFrame* frame = terra_frame_current(PyThreadState_Get());
  for (; frame; frame = terra_frame_caller(frame)) {
    if (++depth > kDeepest) return 0;
    const auto code = reinterpret_cast<uintptr_t>(terra_frame_code(frame));
    word = (word ^ (code + static_cast<uint64_t>(call_site(frame)))) * 0x9e3779b97f4a7c15;
    word ^= word >> 29;
  }
  return word | 1;
}

SourceLine own_line() {
  SourceLine innermost;
  for (const TerraFrame* frame = terra_frame_current(PyThreadState_Get()); frame; frame = terra_frame_caller(frame)) {
    PyCodeObject* code = terra_frame_code(frame);
    const SourceLine here = source_line(code, terra_frame_instruction(frame));
    if (!terra_code_is_of_package(code)) return here;
    if (innermost.file.empty()) innermost = here;
  }
  return innermost;
}

FrameChain ProgramPlace::read(CodeLoops& loops) {
  chain_.clear();
  const TerraFrame* frame = terra_frame_current(PyThreadState_Get());
  for (; frame; frame = terra_frame_caller(frame)) {
    if (chain_.size() == kDeepest) {
      chain_.clear();
      break;
    }
    PyCodeObject* code = terra_frame_code(frame);
    const int at = call_site(frame);
    chain_.push_back(
        {reinterpret_cast<uintptr_t>(code), reinterpret_cast<uintptr_t>(frame), at, loops.around(code, at)});
  }
  std::reverse(chain_.begin(), chain_.end());
  return chain_;
}

}  // namespace terra::coexec
