#include "interpreter_hooks/cpython/instructions.h"

#include "interpreter_hooks/cpython/code.h"

int terra_code_units(const PyCodeObject* code) { return (int)Py_SIZE(code); }

int terra_code_line(PyCodeObject* code, int offset) {
  return PyCode_Addr2Line(code, offset * (int)sizeof(_Py_CODEUNIT));
}

static TerraInstruction* decode_all(PyCodeObject* code) {
  const int count = terra_code_units(code);
  TerraInstruction* decoded = PyMem_Malloc((size_t)count * sizeof *decoded);
  PyObject* bytes = decoded ? PyCode_GetCode(code) : NULL; /* without specialisation */
  if (bytes) {
    const uint8_t* units = (const uint8_t*)PyBytes_AS_STRING(bytes);
    for (int offset = 0; offset < count; offset++) decoded[offset] = terra_decode(units, count, offset);
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
