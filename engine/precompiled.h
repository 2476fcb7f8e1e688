// What nearly every unit from engine/ops on includes, parsed once. A unit includes what it uses all the same, and the
// presets debug and tsan build without.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "engine/errors/errors.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/rules.h"
