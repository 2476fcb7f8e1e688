#include "interpreter_hooks/guards/kinds.h"

#include "interpreter_hooks/guards/functions.h"

#include <cstring>

namespace terra::capture {

// Every kind, in the order of Op: whether it is a guard, and the name of its functions. Reads have a text in common.
// One can fail too (an attribute that is gone), which is a miss like any other.
// clang-format off
#define TERRA_KIND_ROWS(ROW, READ) \
  READ(false, argument) \
  READ(false, function) \
  READ(false, closure) \
  READ(true, cell) \
  READ(true, item) \
  READ(true, key) \
  READ(true, attribute) \
  READ(true, slot) \
  READ(true, class_attribute) \
  READ(true, instance_dict) \
  READ(false, method_part) \
  READ(false, partial_part) \
  READ(false, module_part) \
  READ(true, cached_result) \
  READ(true, key_of) \
  READ(true, item_of) \
  READ(true, key_at) \
  READ(false, generator_part) \
  ROW(true, iterator_base) \
  ROW(true, gradient) \
  ROW(false, version) \
  READ(false, size_of) \
  ROW(true, is) \
  ROW(true, equal) \
  ROW(true, pinned) \
  ROW(true, type) \
  ROW(true, type_of) \
  ROW(true, class_facts) \
  ROW(true, length) \
  ROW(true, max_length) \
  ROW(true, keys) \
  ROW(true, size) \
  ROW(true, contains) \
  ROW(true, no_key) \
  ROW(true, no_attribute) \
  ROW(true, no_argument) \
  ROW(true, code) \
  ROW(true, globals) \
  ROW(true, same) \
  ROW(true, distinct) \
  ROW(true, all_distinct) \
  ROW(true, own_dicts) \
  ROW(true, quiet_attribute) \
  ROW(true, quiet_item) \
  ROW(true, quiet_items) \
  ROW(true, quiet_argument) \
  ROW(true, quiet_together) \
  ROW(true, truth) \
  ROW(true, tensor) \
  ROW(true, offset) \
  ROW(true, no_gradient) \
  ROW(true, same_storage) \
  ROW(true, apart) \
  ROW(true, own_history) \
  ROW(true, c_method) \
  ROW(true, unstarted) \
  ROW(true, range_start) \
  ROW(true, no_hooks) \
  ROW(true, mode) \
  ROW(false, binary) \
  ROW(false, compare) \
  ROW(false, unary) \
  ROW(false, call) \
  ROW(false, format) \
  ROW(false, tuple) \
  ROW(false, copy) \
  ROW(false, draw)
// clang-format on

#define TERRA_DECLARE_READ(guard, name) bool name##_holds(Word* at, Run& run);
#define TERRA_DECLARE_ROW(guard, name) \
  TERRA_DECLARE_READ(guard, name)      \
  std::string name##_text(const Word* at, const RegisterFile& file);
TERRA_KIND_ROWS(TERRA_DECLARE_ROW, TERRA_DECLARE_READ)

namespace {
std::string read_text(const Word* at, const RegisterFile& file) { return name_dst(at, file) + " is there"; }
}  // namespace

#define TERRA_ROW(guard, name) {#name, guard, name##_holds, name##_text},
#define TERRA_READ_ROW(guard, name) {#name, guard, name##_holds, read_text},
const Kind kinds[static_cast<size_t>(Op::Count_)] = {TERRA_KIND_ROWS(TERRA_ROW, TERRA_READ_ROW)};

std::vector<Word> pack(const std::vector<Register>& registers) {
  std::vector<Word> words;
  for (std::size_t first = 0; first < registers.size(); first += registers_per_word) {
    Register filled[registers_per_word];
    for (std::size_t place = 0; place < registers_per_word; ++place)
      filled[place] = first + place < registers.size() ? registers[first + place] : no_register;
    words.emplace_back();
    std::memcpy(&words.back(), filled, sizeof filled);
  }
  return words;
}

std::vector<Word> call_operands(RegisterFile& file, PyObject* callee, const std::vector<Register>& given) {
  std::vector<Word> words = pack(given);
  words.insert(words.begin(), word_of(file.keep(callee)));
  return words;
}

}  // namespace terra::capture
