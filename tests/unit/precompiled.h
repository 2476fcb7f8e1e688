// What every unit test includes, as engine/precompiled.h.
#pragma once
#include <catch2/catch.hpp>

#include "graph/precompiled.h"
