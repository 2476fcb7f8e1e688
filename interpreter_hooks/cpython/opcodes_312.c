/* opcodes.h for CPython 3.12: opcode.h and bytecodes.c of 3.12.1. */
#include "interpreter_hooks/cpython/opcodes.h"

#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x030d0000
#error "opcodes_312.c knows the opcodes of CPython 3.12 only"
#endif

#include <opcode.h>

#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_intrinsics.h>
#undef Py_BUILD_CORE

#define SAME(name) [name] = {TERRA_##name, TERRA_STAYS}

const TerraOpcode terra_opcodes[256] = {
    SAME(NOP),
    SAME(RESUME),
    SAME(POP_TOP),
    SAME(PUSH_NULL),
    SAME(COPY),
    SAME(SWAP),
    SAME(LOAD_CONST),
    SAME(LOAD_FAST),
    [LOAD_FAST_CHECK] = {TERRA_LOAD_FAST, TERRA_STAYS},
    SAME(LOAD_FAST_AND_CLEAR),
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
    SAME(LOAD_SUPER_ATTR),
    SAME(STORE_ATTR),
    SAME(DELETE_ATTR),
    SAME(BINARY_SUBSCR),
    SAME(STORE_SUBSCR),
    SAME(DELETE_SUBSCR),
    SAME(BINARY_SLICE),
    SAME(STORE_SLICE),
    SAME(BINARY_OP),
    SAME(COMPARE_OP),
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
    [FOR_ITER] = {TERRA_FOR_ITER, TERRA_FORWARD},
    SAME(END_FOR),
    SAME(GET_YIELD_FROM_ITER),
    [SEND] = {TERRA_SEND, TERRA_FORWARD},
    SAME(END_SEND),
    [JUMP_FORWARD] = {TERRA_JUMP, TERRA_FORWARD},
    [JUMP_BACKWARD] = {TERRA_JUMP, TERRA_BACKWARD},
    [JUMP_BACKWARD_NO_INTERRUPT] = {TERRA_JUMP_NO_INTERRUPT, TERRA_BACKWARD},
    [POP_JUMP_IF_TRUE] = {TERRA_POP_JUMP_IF_TRUE, TERRA_FORWARD},
    [POP_JUMP_IF_FALSE] = {TERRA_POP_JUMP_IF_FALSE, TERRA_FORWARD},
    [POP_JUMP_IF_NONE] = {TERRA_POP_JUMP_IF_NONE, TERRA_FORWARD},
    [POP_JUMP_IF_NOT_NONE] = {TERRA_POP_JUMP_IF_NOT_NONE, TERRA_FORWARD},
    SAME(KW_NAMES),
    SAME(CALL),
    SAME(CALL_FUNCTION_EX),
    SAME(MAKE_FUNCTION),
    SAME(RETURN_VALUE),
    SAME(RETURN_CONST),
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

/* CALL_INTRINSIC_1 stands for many small instructions; those that are not here have no kind. */
static const uint8_t intrinsics[] = {
    [INTRINSIC_STOPITERATION_ERROR] = TERRA_STOP_ITERATION_ERROR,
    [INTRINSIC_UNARY_POSITIVE] = TERRA_UNARY_POSITIVE,
    [INTRINSIC_LIST_TO_TUPLE] = TERRA_LIST_TO_TUPLE,
};

void terra_refine(TerraInstruction* i, int opcode) {
  switch (opcode) {
    case LOAD_GLOBAL:
      i->flags = i->arg & 1 ? TERRA_PUSHES_NULL : 0;
      i->arg >>= 1;
      break;
    case LOAD_ATTR: /* the lowest bit: as LOAD_METHOD */
      i->kind = i->arg & 1 ? TERRA_LOAD_METHOD : TERRA_LOAD_ATTR;
      i->arg >>= 1;
      break;
    case LOAD_SUPER_ATTR: /* the lowest bit: a method; the next: of super() with arguments, which means the same */
      i->flags = i->arg & 1 ? TERRA_PUSHES_NULL : 0;
      i->arg >>= 2;
      break;
    case COMPARE_OP: i->arg >>= 4; break;
    case FOR_ITER: i->target++; break; /* at its end it passes over the END_FOR */
    case SEND: i->flags = TERRA_KEEPS_RECEIVER; break;
    case CALL_INTRINSIC_1: i->kind = (size_t)i->arg < sizeof intrinsics ? intrinsics[i->arg] : TERRA_NOTHING; break;
    default: break;
  }
}
