#include "interpreter_hooks/cpython/instructions.h"

#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/opcodes.h"

#include <assert.h>
#include <opcode.h>
#include <string.h>

int terra_code_units(const PyCodeObject* code) { return (int)Py_SIZE(code); }

int terra_code_is_of_package(const PyCodeObject* code) {
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) PyErr_Clear();
  return file && strstr(file, "/lib/terra/") != NULL;
}

int terra_code_line(PyCodeObject* code, int offset) {
  return PyCode_Addr2Line(code, offset * (int)sizeof(_Py_CODEUNIT));
}

/* ---- one instruction ---- */

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
  const TerraOpcode row = terra_opcodes[opcode];
  i.kind = row.kind;
  i.next = i.at + 1;
  while (i.next < count && units[2 * i.next] == CACHE) i.next++;
  if (row.jump != TERRA_STAYS) i.target = row.jump == TERRA_FORWARD ? i.next + i.arg : i.next - i.arg;
  if (i.next < count && units[2 * i.next] == RESUME) i.next++; /* behind a yield */
  terra_refine(&i, opcode);
  if (i.kind == TERRA_NOTHING && opcode != CACHE) {
    i.kind = TERRA_UNKNOWN;
    i.flags = (uint16_t)opcode;
  }
  return i;
}

/* ---- how deep the stack is ---- */

static int effect_of_jump(const TerraInstruction* i) {
  switch (i->kind) {
    case TERRA_UNKNOWN: return PyCompile_OpcodeStackEffectWithJump(i->flags, i->arg, 1);
    case TERRA_FOR_ITER: return -1;
    case TERRA_SEND: return i->flags & TERRA_KEEPS_RECEIVER ? 0 : -1;
    case TERRA_JUMP:
    case TERRA_JUMP_NO_INTERRUPT:
    case TERRA_JUMP_IF_TRUE_OR_POP:
    case TERRA_JUMP_IF_FALSE_OR_POP: return 0;
    default: return -1;
  }
}

static int effect(const TerraInstruction* i) {
  const int arg = i->arg, flags = i->flags;
  switch (i->kind) {
    case TERRA_UNKNOWN: return PyCompile_OpcodeStackEffectWithJump(flags, arg, 0);
#define TERRA_EFFECT(name, pops, pushes, next) \
  case TERRA_##name: return (pushes) - (pops);
      TERRA_KINDS(TERRA_EFFECT)
#undef TERRA_EFFECT
    default: return 0;
  }
}

static int goes_on(int kind) {
  enum { N = 1, B = 1, J = 0, L = 0 }; /* as TERRA_KINDS says where an instruction can go next */
  switch (kind) {
#define TERRA_NEXT(name, pops, pushes, next) \
  case TERRA_##name: return next;
    TERRA_KINDS(TERRA_NEXT)
#undef TERRA_NEXT
    default: return 1;
  }
}

/* Notes that the stack is `depth` deep before the instruction at an offset; true if that is new. */
static int reach(TerraInstruction* all, int count, int offset, int depth) {
  if (offset < 0 || offset >= count || all[offset].depth >= 0 || depth < 0) return 0;
  for (int at = offset; at <= all[offset].at; at++) all[at].depth = depth; /* its prefixes */
  return 1;
}

/* Follows the code from its first RESUME along jumps and into handlers. Most jumps lead forward: few passes do. */
static void measure_depths(PyCodeObject* code, TerraInstruction* all, int count) {
  int first = 0, changed = 1;
  for (int offset = 0; offset < count; offset++) all[offset].depth = -1;
  while (first < count && all[first].kind != TERRA_RESUME) first++;
  reach(all, count, first, 0);
  while (changed) {
    changed = 0;
    for (int offset = first; offset < count; offset++) {
      const TerraInstruction* i = &all[offset];
      int depth, lasti;
      if (i->kind == TERRA_NOTHING || i->depth < 0) continue;
      if (goes_on(i->kind)) {
        for (int at = i->at + 1; at <= i->next; at++) /* with the RESUME behind a yield */
          if (at == i->next || all[at].kind != TERRA_NOTHING) changed |= reach(all, count, at, i->depth + effect(i));
      }
      if (i->target >= 0) changed |= reach(all, count, i->target, i->depth + effect_of_jump(i));
      const int handler = terra_code_handler(code, i->at, &depth, &lasti);
      if (handler >= 0) changed |= reach(all, count, handler, depth + lasti + 1);
    }
  }
}

/* ---- all of them ---- */

static TerraInstruction* decode_all(PyCodeObject* code) {
  const int count = terra_code_units(code);
  TerraInstruction* decoded = PyMem_Malloc((size_t)count * sizeof *decoded);
  PyObject* bytes = decoded ? PyCode_GetCode(code) : NULL; /* without specialisation */
  if (bytes) {
    const uint8_t* units = (const uint8_t*)PyBytes_AS_STRING(bytes);
    for (int offset = 0; offset < count; offset++) decoded[offset] = terra_decode(units, count, offset);
    measure_depths(code, decoded, count);
    Py_DECREF(bytes);
    return decoded;
  }
  PyErr_Clear();
  PyMem_Free(decoded);
  return NULL;
}

const TerraInstruction* terra_instructions(PyCodeObject* code) {
  static Py_ssize_t index = -1;
  if (index < 0) index = terra_code_extra_index(PyMem_Free);
  TerraInstruction* decoded = terra_code_extra(code, index);
  if (decoded) return decoded;
  decoded = decode_all(code);
  if (decoded && !terra_code_set_extra(code, index, decoded)) {
    PyMem_Free(decoded);
    decoded = NULL;
  }
  return decoded;
}
