// Remarks of the engine: log records on stderr, of the levels that TERRA_LOG asks for (off unless it is set).
#pragma once
#include <spdlog/logger.h>

namespace terra::capture {

/// Made at first use; lives as long as the process.
spdlog::logger& log();

}  // namespace terra::capture
