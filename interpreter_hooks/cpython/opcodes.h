/* What instructions.c needs to know of the opcodes of one version. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_OPCODES_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_OPCODES_H

#include "interpreter_hooks/cpython/instructions.h"

/* Where an instruction jumps to, seen from the one behind it: `arg` code units on or back. */
enum { TERRA_STAYS, TERRA_FORWARD, TERRA_BACKWARD };

typedef struct {
  uint8_t kind, jump;
} TerraOpcode;

extern const TerraOpcode terra_opcodes[256];

/* Finishes an instruction that has been put together from its row, its prefixes and its argument: what the opcode folds
 * into the argument, and what else is its own. */
void terra_refine(TerraInstruction* instruction, int opcode);

#endif
