#include "interpreter_hooks/frame_hook/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <cstdlib>

namespace terra::capture {

spdlog::logger& log() {
  static spdlog::logger& logger = *[] {
    auto* made = new spdlog::logger("terra", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    const char* level = std::getenv("TERRA_LOG");
    made->set_level(level ? spdlog::level::from_str(level) : spdlog::level::off);
    made->set_pattern("terra: %l: %v");
    return made;
  }();
  return logger;
}

}  // namespace terra::capture
