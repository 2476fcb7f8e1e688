// What nearly every unit of interpreter_hooks includes, as engine/precompiled.h.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "graph/precompiled.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
