// What nearly every unit of graph and recursive includes, as engine/precompiled.h.
#pragma once
#include "engine/autograd/autograd.h"
#include "engine/precompiled.h"
#include "graph/ir/graph.h"
#include "graph/ir/graph_table.h"
#include "graph/ir/print.h"
