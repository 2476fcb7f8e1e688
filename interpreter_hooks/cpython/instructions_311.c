/* instructions.h for CPython 3.11: opcode.h and ceval.c of 3.11.2. */
#include "interpreter_hooks/cpython/instructions.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "instructions_311.c knows the opcodes of CPython 3.11 only"
#endif

#include <assert.h>
#include <opcode.h>

/* Where an instruction jumps to, seen from the one behind it: `arg` units on or back. */
typedef enum { STAYS, FORWARD, BACKWARD } Jump;

typedef struct {
  uint8_t kind, jump;
} Row;

#define SAME(name) [name] = {TERRA_##name, STAYS}

static const Row rows[256] = {
    SAME(NOP),
    SAME(RESUME),
    SAME(POP_TOP),
    SAME(PUSH_NULL),
    SAME(COPY),
    SAME(SWAP),
    SAME(LOAD_CONST),
    SAME(LOAD_FAST),
    SAME(STORE_FAST),
    SAME(DELETE_FAST),
    SAME(LOAD_CLOSURE),
    SAME(LOAD_DEREF),
    SAME(STORE_DEREF),
    SAME(DELETE_DEREF),
    SAME(LOAD_GLOBAL),
    SAME(STORE_GLOBAL),
    SAME(DELETE_GLOBAL),
    SAME(LOAD_ASSERTION_ERROR),
    SAME(LOAD_ATTR),
    SAME(LOAD_METHOD),
    SAME(STORE_ATTR),
    SAME(DELETE_ATTR),
    SAME(BINARY_SUBSCR),
    SAME(STORE_SUBSCR),
    SAME(DELETE_SUBSCR),
    SAME(BINARY_OP),
    SAME(COMPARE_OP),
    SAME(UNARY_POSITIVE),
    SAME(UNARY_NEGATIVE),
    SAME(UNARY_NOT),
    SAME(UNARY_INVERT),
    SAME(IS_OP),
    SAME(CONTAINS_OP),
    SAME(BUILD_TUPLE),
    SAME(BUILD_LIST),
    SAME(BUILD_SET),
    SAME(BUILD_MAP),
    SAME(BUILD_CONST_KEY_MAP),
    SAME(BUILD_SLICE),
    SAME(BUILD_STRING),
    SAME(FORMAT_VALUE),
    SAME(LIST_TO_TUPLE),
    SAME(LIST_APPEND),
    SAME(MAP_ADD),
    SAME(SET_ADD),
    SAME(LIST_EXTEND),
    SAME(SET_UPDATE),
    SAME(DICT_UPDATE),
    SAME(DICT_MERGE),
    SAME(UNPACK_SEQUENCE),
    SAME(UNPACK_EX),
    SAME(GET_LEN),
    SAME(GET_ITER),
    [FOR_ITER] = {TERRA_FOR_ITER, FORWARD},
    SAME(GET_YIELD_FROM_ITER),
    [SEND] = {TERRA_SEND, FORWARD},
    [JUMP_FORWARD] = {TERRA_JUMP, FORWARD},
    [JUMP_BACKWARD] = {TERRA_JUMP, BACKWARD},
    [JUMP_BACKWARD_NO_INTERRUPT] = {TERRA_JUMP_NO_INTERRUPT, BACKWARD},
    [POP_JUMP_FORWARD_IF_TRUE] = {TERRA_POP_JUMP_IF_TRUE, FORWARD},
    [POP_JUMP_FORWARD_IF_FALSE] = {TERRA_POP_JUMP_IF_FALSE, FORWARD},
    [POP_JUMP_FORWARD_IF_NONE] = {TERRA_POP_JUMP_IF_NONE, FORWARD},
    [POP_JUMP_FORWARD_IF_NOT_NONE] = {TERRA_POP_JUMP_IF_NOT_NONE, FORWARD},
    [POP_JUMP_BACKWARD_IF_TRUE] = {TERRA_POP_JUMP_IF_TRUE, BACKWARD},
    [POP_JUMP_BACKWARD_IF_FALSE] = {TERRA_POP_JUMP_IF_FALSE, BACKWARD},
    [POP_JUMP_BACKWARD_IF_NONE] = {TERRA_POP_JUMP_IF_NONE, BACKWARD},
    [POP_JUMP_BACKWARD_IF_NOT_NONE] = {TERRA_POP_JUMP_IF_NOT_NONE, BACKWARD},
    [JUMP_IF_TRUE_OR_POP] = {TERRA_JUMP_IF_TRUE_OR_POP, FORWARD},
    [JUMP_IF_FALSE_OR_POP] = {TERRA_JUMP_IF_FALSE_OR_POP, FORWARD},
    SAME(KW_NAMES),
    SAME(PRECALL),
    SAME(CALL),
    SAME(CALL_FUNCTION_EX),
    SAME(MAKE_FUNCTION),
    SAME(RETURN_VALUE),
    SAME(YIELD_VALUE),
    SAME(BEFORE_WITH),
    SAME(WITH_EXCEPT_START),
    SAME(PUSH_EXC_INFO),
    SAME(CHECK_EXC_MATCH),
    SAME(POP_EXCEPT),
    SAME(RAISE_VARARGS),
    SAME(RERAISE),
    SAME(MATCH_MAPPING),
    SAME(MATCH_SEQUENCE),
    SAME(MATCH_KEYS),
    SAME(MATCH_CLASS),
    SAME(IMPORT_NAME),
    SAME(IMPORT_FROM),
};

/* `arg` of BINARY_OP stays as it is. */
static_assert(TERRA_ADD == NB_ADD && TERRA_AND == NB_AND && TERRA_FLOOR_DIVIDE == NB_FLOOR_DIVIDE &&
                  TERRA_LEFT_SHIFT == NB_LSHIFT && TERRA_MATRIX_MULTIPLY == NB_MATRIX_MULTIPLY &&
                  TERRA_MULTIPLY == NB_MULTIPLY && TERRA_REMAINDER == NB_REMAINDER && TERRA_OR == NB_OR &&
                  TERRA_POWER == NB_POWER && TERRA_RIGHT_SHIFT == NB_RSHIFT && TERRA_SUBTRACT == NB_SUBTRACT &&
                  TERRA_TRUE_DIVIDE == NB_TRUE_DIVIDE && TERRA_XOR == NB_XOR && TERRA_IN_PLACE == NB_INPLACE_ADD,
              "the operators are numbered as in opcode.h");

TerraInstruction terra_decode(const uint8_t* units, int count, int offset) {
  TerraInstruction i = {.arg = units[2 * offset + 1], .at = offset, .target = -1};
  while (units[2 * i.at] == EXTENDED_ARG && i.at + 1 < count) {
    i.at++;
    i.arg = i.arg << 8 | units[2 * i.at + 1];
  }
  const int opcode = units[2 * i.at];
  const Row row = rows[opcode];
  i.kind = row.kind;
  i.next = i.at + 1;
  while (i.next < count && units[2 * i.next] == CACHE) i.next++;
  if (i.next < count && units[2 * i.next] == RESUME) i.next++; /* behind a yield */
  if (row.jump != STAYS) i.target = row.jump == FORWARD ? i.next + i.arg : i.next - i.arg;
  if (opcode == LOAD_GLOBAL) {
    i.flags = i.arg & 1 ? TERRA_PUSHES_NULL : 0;
    i.arg >>= 1;
  }
  if (row.kind == TERRA_NOTHING && opcode != CACHE) {
    i.kind = TERRA_UNKNOWN;
    i.arg = opcode;
  }
  return i;
}
