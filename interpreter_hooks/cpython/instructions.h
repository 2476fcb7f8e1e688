/* Instructions as every CPython of this kind has them: {kind, arg, target, flags}.
 *
 * Compilers of different minor versions number their opcodes differently, fold flags into arguments, put caches between
 * instructions and prefixes before them. instructions.c resolves all that with the tables of opcodes_3xx.c, once per
 * code object; nobody else reads bytecode. An opcode without a kind ends a recording. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_INSTRUCTIONS_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_INSTRUCTIONS_H

#include <Python.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of bits set among the four flags of MAKE_FUNCTION. */
#define TERRA_BITS(arg) ((((arg) >> 0) & 1) + (((arg) >> 1) & 1) + (((arg) >> 2) & 1) + (((arg) >> 3) & 1))

/* The kinds: X(name, pops, pushes, next), how many stack items an instruction with `arg` and `flags` takes and puts,
 * and where it can go next: N falls through; J jumps always; B jumps or falls through; L leaves the frame or raises.
 * tests/unit/interpreter_hooks/cpython compares pushes - pops with the compiler's own stack effects. */
/* clang-format off */
#define TERRA_KINDS(X)                                                    \
  /* motion */                                                              \
  X(NOP, 0, 0, N)                                                           \
  X(RESUME, 0, 0, N)                                                        \
  X(POP_TOP, 1, 0, N)                                                       \
  X(PUSH_NULL, 0, 1, N)                                                     \
  X(COPY, arg, arg + 1, N)                                                  \
  X(SWAP, arg, arg, N)                                                      \
  X(LOAD_CONST, 0, 1, N)                                                    \
  X(LOAD_FAST, 0, 1, N)                                                     \
  X(LOAD_FAST_AND_CLEAR, 0, 1, N)                                           \
  X(STORE_FAST, 1, 0, N)                                                    \
  X(DELETE_FAST, 0, 0, N)                                                   \
  /* cells and globals */                                                   \
  X(LOAD_CLOSURE, 0, 1, N)                                                  \
  X(LOAD_DEREF, 0, 1, N)                                                    \
  X(STORE_DEREF, 1, 0, N)                                                   \
  X(DELETE_DEREF, 0, 0, N)                                                  \
  X(LOAD_GLOBAL, 0, (flags & TERRA_PUSHES_NULL) ? 2 : 1, N)                 \
  X(STORE_GLOBAL, 1, 0, N)                                                  \
  X(DELETE_GLOBAL, 0, 0, N)                                                 \
  X(LOAD_ASSERTION_ERROR, 0, 1, N)                                          \
  /* attributes and items */                                                \
  X(LOAD_ATTR, 1, 1, N)                                                     \
  X(LOAD_METHOD, 1, 2, N)                                                   \
  X(LOAD_SUPER_ATTR, 3, (flags & TERRA_PUSHES_NULL) ? 2 : 1, N)             \
  X(STORE_ATTR, 2, 0, N)                                                    \
  X(DELETE_ATTR, 1, 0, N)                                                   \
  X(BINARY_SUBSCR, 2, 1, N)                                                 \
  X(STORE_SUBSCR, 3, 0, N)                                                  \
  X(DELETE_SUBSCR, 2, 0, N)                                                 \
  X(BINARY_SLICE, 3, 1, N)                                                  \
  X(STORE_SLICE, 4, 0, N)                                                   \
  /* operators */                                                           \
  X(BINARY_OP, 2, 1, N)                                                     \
  X(COMPARE_OP, 2, 1, N)                                                    \
  X(UNARY_POSITIVE, 1, 1, N)                                                \
  X(UNARY_NEGATIVE, 1, 1, N)                                                \
  X(UNARY_NOT, 1, 1, N)                                                     \
  X(UNARY_INVERT, 1, 1, N)                                                  \
  X(IS_OP, 2, 1, N)                                                         \
  X(CONTAINS_OP, 2, 1, N)                                                   \
  /* containers */                                                          \
  X(BUILD_TUPLE, arg, 1, N)                                                 \
  X(BUILD_LIST, arg, 1, N)                                                  \
  X(BUILD_SET, arg, 1, N)                                                   \
  X(BUILD_MAP, 2 * arg, 1, N)                                               \
  X(BUILD_CONST_KEY_MAP, arg + 1, 1, N)                                     \
  X(BUILD_SLICE, arg, 1, N)                                                 \
  X(BUILD_STRING, arg, 1, N)                                                \
  X(FORMAT_VALUE, (arg & 4) ? 2 : 1, 1, N)                                  \
  X(LIST_TO_TUPLE, 1, 1, N)                                                 \
  X(LIST_APPEND, 1, 0, N)                                                   \
  X(MAP_ADD, 2, 0, N)                                                       \
  X(LIST_EXTEND, 1, 0, N)                                                   \
  X(DICT_UPDATE, 1, 0, N)                                                   \
  X(DICT_MERGE, 1, 0, N)                                                    \
  X(UNPACK_SEQUENCE, 1, arg, N)                                             \
  X(GET_LEN, 0, 1, N)                                                       \
  /* iteration */                                                           \
  X(GET_ITER, 1, 1, N)                                                      \
  X(FOR_ITER, 1, 2, B)                                                      \
  X(END_FOR, 2, 0, N)                                                       \
  X(UNPACK_EX, 1, (arg & 0xff) + (arg >> 8) + 1, N)                         \
  X(GET_YIELD_FROM_ITER, 1, 1, N)                                           \
  X(SEND, 2, 2, B)                                                          \
  X(END_SEND, 2, 1, N)                                                      \
  /* jumps */                                                               \
  X(JUMP, 0, 0, J)                                                          \
  X(JUMP_NO_INTERRUPT, 0, 0, J)                                             \
  X(POP_JUMP_IF_TRUE, 1, 0, B)                                              \
  X(POP_JUMP_IF_FALSE, 1, 0, B)                                             \
  X(POP_JUMP_IF_NONE, 1, 0, B)                                              \
  X(POP_JUMP_IF_NOT_NONE, 1, 0, B)                                          \
  X(JUMP_IF_TRUE_OR_POP, 1, 0, B)                                           \
  X(JUMP_IF_FALSE_OR_POP, 1, 0, B)                                          \
  /* calls */                                                               \
  X(KW_NAMES, 0, 0, N)                                                      \
  X(PRECALL, 0, 0, N)                                                       \
  X(CALL, arg + 2, 1, N)                                                    \
  X(CALL_FUNCTION_EX, 3 + (arg & 1), 1, N)                                  \
  X(MAKE_FUNCTION, 1 + TERRA_BITS(arg), 1, N)                               \
  X(RETURN_VALUE, 1, 0, L)                                                  \
  X(RETURN_CONST, 0, 0, L)                                                  \
  X(YIELD_VALUE, 1, 1, N)                                                   \
  X(STOP_ITERATION_ERROR, 1, 1, N)                                          \
  /* with and exceptions */                                                 \
  X(BEFORE_WITH, 1, 2, N)                                                   \
  X(WITH_EXCEPT_START, 0, 1, N)                                             \
  X(PUSH_EXC_INFO, 1, 2, N)                                                 \
  X(CHECK_EXC_MATCH, 1, 1, N)                                               \
  X(POP_EXCEPT, 1, 0, N)                                                    \
  X(RAISE_VARARGS, arg, 0, L)                                               \
  X(RERAISE, 1, 0, L)                                                       \
  /* imports */                                                             \
  X(MATCH_MAPPING, 0, 1, N)                                                 \
  X(MATCH_SEQUENCE, 0, 1, N)                                                \
  X(MATCH_KEYS, 0, 1, N)                                                    \
  X(MATCH_CLASS, 3, 1, N)                                                   \
  X(SET_ADD, 1, 0, N)                                                       \
  X(SET_UPDATE, 1, 0, N)                                                    \
  X(IMPORT_NAME, 2, 1, N)                                                   \
  X(IMPORT_FROM, 0, 1, N)
/* clang-format on */

typedef enum {
  TERRA_NOTHING, /* inside an instruction: its caches */
  TERRA_UNKNOWN, /* an opcode without a kind; `flags` is its number */
#define TERRA_KIND(name, pops, pushes, next) TERRA_##name,
  TERRA_KINDS(TERRA_KIND)
#undef TERRA_KIND
      TERRA_KIND_COUNT
} TerraKind;

/* Flags of an instruction. */
enum {
  TERRA_PUSHES_NULL = 1, /* LOAD_GLOBAL, LOAD_SUPER_ATTR: of what is about to be called, in two places as LOAD_METHOD */
  TERRA_KEEPS_RECEIVER = 2 /* SEND: what it sends to is on the stack at its end, too; END_SEND takes it away */
};

/* `arg` of BINARY_OP. In place they are TERRA_IN_PLACE more, and mean the same for immutable operands. That of
 * COMPARE_OP is Py_LT..Py_GE. */
enum {
  TERRA_ADD,
  TERRA_AND,
  TERRA_FLOOR_DIVIDE,
  TERRA_LEFT_SHIFT,
  TERRA_MATRIX_MULTIPLY,
  TERRA_MULTIPLY,
  TERRA_REMAINDER,
  TERRA_OR,
  TERRA_POWER,
  TERRA_RIGHT_SHIFT,
  TERRA_SUBTRACT,
  TERRA_TRUE_DIVIDE,
  TERRA_XOR,
  TERRA_IN_PLACE
};

/* Offsets are in code units. */
typedef struct {
  uint16_t kind, flags;
  int arg;
  int at;     /* behind its prefixes: where a frame that runs it says to be */
  int next;   /* where it falls through to; the start of a generator that goes on is no instruction and passed over */
  int target; /* where it jumps; -1: it doesn't */
  int depth;  /* of the stack before it; -1: code that is never come to, and what is before the first RESUME */
} TerraInstruction;

/* The instruction at each offset of the code, its prefixes being part of it: terra_code_units(code) of them. Decoded at
 * the first call and kept with the code object. NULL without an exception where there is no memory. */
const TerraInstruction* terra_instructions(PyCodeObject* code);
int terra_code_units(const PyCodeObject* code);
/* The line of the program that the instruction at an offset comes from. */
int terra_code_line(PyCodeObject* code, int offset);
/* Code of Terra's own package, as opposed to the program's and that of other libraries. */
int terra_code_is_of_package(const PyCodeObject* code);

/* What terra_instructions is made of: the instruction at an offset of `count` code units without specialisation. Its
 * depth is not known yet. */
TerraInstruction terra_decode(const uint8_t* units, int count, int offset);

#ifdef __cplusplus
}
#endif

#endif
