// terra-run's own options, apart from those of python3.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace terra {

struct CommandLine {
  std::vector<char*> python;  // argv without Terra's options
  // What the options mean: environment variables, so that child processes inherit them.
  std::vector<std::pair<std::string, std::string>> variables;
  bool help = false;
  bool version = false;
  bool coverage = false;  // the program is read and not run
  std::string error;      // a sentence; empty when all is well
};

// Takes Terra's options out of a command line. They stand in front of the script, -c, -m or -, where python3's own
// stand; everything behind belongs to the program.
CommandLine read_command_line(int argc, char** argv);

// The text of --help-terra.
std::string help_text();

}  // namespace terra
