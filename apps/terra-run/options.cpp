#include "apps/terra-run/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace terra {
namespace {

enum class Value { none, choice, count, file };

struct Option {
  std::string_view name, variable;
  Value value;
  std::string_view form;  // what --help-terra shows; the choices themselves for Value::choice
  std::string_view help;
};

constexpr std::array options{
    Option{"torch", "TERRA_TORCH", Value::none, "", "the names torch and torchvision mean Terra's packages"},
    Option{"capture", "TERRA_CAPTURE", Value::choice, "auto|off|frame|coexec|verify|stress|stress-verify",
           "which programs parts run as graphs (auto)"},
    Option{"threads", "TERRA_THREADS", Value::count, "N", "threads that compute (all cores)"},
    Option{"log", "TERRA_LOG", Value::choice, "off|error|warn|info|debug|trace", "remarks on stderr (off)"},
    Option{"explain", "TERRA_EXPLAIN", Value::none, "", "at exit, on stderr: what was captured, what not, and why"},
    Option{"report", "TERRA_REPORT", Value::file, "FILE", "at exit: the same and counters, as JSON"},
    Option{"report-html", "TERRA_REPORT_HTML", Value::file, "FILE", "at exit: the same as one page"},
    Option{"trace", "TERRA_TRACE", Value::file, "FILE", "at exit: a time line for chrome://tracing"},
};

struct Variable {
  std::string_view name, form;
  std::string_view help;
};

// Those that no option sets. tests/architecture: each one that is read anywhere is here or above.
constexpr std::array variables{
    Variable{"TERRA_EXACT", "1", "no choice that a measurement makes: runs can be compared bit for bit"},
    Variable{"TERRA_STRICT", "1", "errors of capture itself, and differences that it finds, raise"},
    Variable{"TERRA_SELF_CHECK", "off|on|all",
             "which replays are compared with plain execution (on: the first and a few)"},
    Variable{"TERRA_RUNNER", "measured|inline|serial|beside|turns",
             "co-executed loops: computed inline, beside the program, or left to frames (the fastest)"},
    Variable{"TERRA_BATCHES", "off|on", "whether calls below recursive functions wait, to run many at a time"},
    Variable{"TERRA_PASSES", "-NAME,...", "graph passes that are left out"},
    Variable{"TERRA_ISA", "v2|v3|v4", "the instructions that kernels use (the best there are)"},
    Variable{"TERRA_BLAS_CORE", "NAME", "the kernels that OpenBLAS uses (the fastest)"},
    Variable{"TERRA_CHAOS", "KIND=N@K,...",
             "for tests: faults (guard, assert, op, value, spoil, ...: frame_hook/chaos.h)"},
    Variable{"TERRA_ROUND_TRIP", "1", "for tests: each program that is compiled is printed and read back"},
    Variable{"TERRA_HOOK", "passthrough", "for tests: frames come to the hook, which does nothing"},
    Variable{"TERRA_MAIN_PROCESS", "N", "set by terra-run: the process that writes a FILE without %p"},
};

bool is_one_of(std::string_view value, std::string_view choices) {
  return !value.empty() && value.find('|') == std::string_view::npos &&
         ("|" + std::string(choices) + "|").find("|" + std::string(value) + "|") != std::string::npos;
}

bool is_count(std::string_view value) {
  return !value.empty() && value.size() < 6 && value.find_first_not_of("0123456789") == std::string_view::npos &&
         value.find_first_not_of('0') != std::string_view::npos;
}

// What is wrong with `value`, or nothing.
std::string complaint(const Option& option, bool has_value, std::string_view value) {
  const std::string name = "option --" + std::string(option.name);
  const std::string got = ", not '" + std::string(value) + "'";
  switch (option.value) {
    case Value::none: return has_value ? name + " takes no value" : "";
    case Value::choice:
      return is_one_of(value, option.form) ? "" : name + " is one of " + std::string(option.form) + got;
    case Value::count: return is_count(value) ? "" : name + " is a whole number of at least 1" + got;
    case Value::file: return value.empty() ? name + " needs the name of a file after a '='" : "";
  }
  return "";
}

std::filesystem::path with_process_id(std::string file) {
  if (const size_t place = file.find("%p"); place != std::string::npos)
    file.replace(place, 2, std::to_string(getpid()));
  return file;
}

// Why nothing can be written there, or nothing. What is there already is left as it is.
std::string why_not_writable(const std::filesystem::path& file) {
  std::error_code failed;
  const std::filesystem::path folder = file.parent_path();
  if (std::filesystem::is_directory(file, failed)) return "that is a folder";
  if (!std::filesystem::is_directory(folder, failed)) return "there is no folder " + folder.string();
  const bool exists = std::filesystem::exists(file, failed);
  return access((exists ? file : folder).c_str(), W_OK) == 0 ? "" : std::strerror(errno);
}

// Reads `argument` (without its dashes) as one of Terra's options; false when it is not one.
bool read_own(std::string_view argument, CommandLine& line) {
  const size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  const bool has_value = equals != std::string_view::npos;
  const std::string_view value = has_value ? argument.substr(equals + 1) : std::string_view();
  if (argument == "help-terra") return line.help = true;
  if (argument == "coverage") return line.coverage = true;

  const auto option = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
  if (option == options.end()) return false;
  if (line.error.empty()) line.error = complaint(*option, has_value, value);
  if (!line.error.empty()) return true;
  std::string setting = option->value == Value::none ? "1" : std::string(value);
  if (option->value == Value::file) {  // the program may change its folder before the file is written
    setting = std::filesystem::absolute(setting).string();
    if (const std::string why = why_not_writable(with_process_id(setting)); !why.empty()) {
      line.error = "option --" + std::string(name) + " can't write to " + setting + ": " + why;
      return true;
    }
  }
  line.variables.emplace_back(option->variable, setting);
  return true;
}

// The program that runs in place of the one that --coverage is asked about.
char coverage_module[] = "-mterra._coverage";

// How python3 reads a cluster of short options.
struct Cluster {
  bool takes_next = false;  // the value of the last option is the next argument
  bool starts_program = false;
};

Cluster read_cluster(std::string_view letters) {
  for (size_t i = 0; i < letters.size(); i++) {
    const char letter = letters[i];
    if (letter == 'c' || letter == 'm') return {.starts_program = true};
    if (letter == 'W' || letter == 'X') return {.takes_next = i + 1 == letters.size()};
  }
  return {};
}

// A report without %p in its name is written by one process alone: the one named here, which is the outermost that has
// such a file. Nothing is set where no file is asked for, so that children of an ordinary run see an ordinary
// environment.
void name_reporting_process(CommandLine& line) {
  constexpr std::string_view variable = "TERRA_MAIN_PROCESS";
  const bool asked = std::any_of(options.begin(), options.end(), [&](const Option& option) {
    return option.value == Value::file && std::any_of(line.variables.begin(), line.variables.end(),
                                                      [&](const auto& v) { return v.first == option.variable; });
  });
  const bool inherited = std::any_of(options.begin(), options.end(), [](const Option& option) {
    return option.value == Value::file && std::getenv(std::string(option.variable).c_str());
  });
  if (asked || (inherited && !std::getenv(variable.data()))) {
    line.variables.emplace_back(variable, std::to_string(getpid()));
  }
}

// What the environment says is checked as what the options say.
void check_environment(CommandLine& line) {
  for (const Option& option : options) {
    const char* value = std::getenv(std::string(option.variable).c_str());
    const bool checked = option.value == Value::choice || option.value == Value::count;
    if (!value || !*value || !checked || !line.error.empty()) continue;
    if (complaint(option, true, value).empty()) continue;
    line.error =
        "variable " + std::string(option.variable) + " is " +
        (option.value == Value::choice ? "one of " + std::string(option.form) : "a whole number of at least 1") +
        ", not '" + value + "'";
  }
}

// A row of the help: what stands on the left, and what it means.
void add_row(std::ostringstream& text, std::string left, std::string_view help) {
  if (left.size() > 25) {
    text << left << "\n";
    left.clear();
  }
  left.resize(26, ' ');
  text << left << help << "\n";
}

}  // namespace

CommandLine read_command_line(int argc, char** argv) {
  CommandLine line;
  int i = 0;
  if (argc > 0) line.python.push_back(argv[i++]);
  for (; i < argc; i++) {
    const std::string_view argument = argv[i];
    if (argument.size() < 2 || argument[0] != '-' || argument == "--") break;
    bool takes_next = false;
    if (argument.substr(0, 2) == "--") {
      if (read_own(argument.substr(2), line)) continue;
      line.version |= argument == "--version";
      takes_next = argument == "--check-hash-based-pycs";
    } else {
      const Cluster cluster = read_cluster(argument.substr(1));
      if (cluster.starts_program) break;
      takes_next = cluster.takes_next;
    }
    line.python.push_back(argv[i]);
    if (takes_next && i + 1 < argc) line.python.push_back(argv[++i]);
  }
  if (line.coverage) line.python.push_back(coverage_module);
  line.python.insert(line.python.end(), argv + i, argv + argc);
  check_environment(line);
  name_reporting_process(line);
  return line;
}

std::string help_text() {
  std::ostringstream text;
  text << "usage: terra-run [option] ... [-c cmd | -m mod | file | -] [arg] ...\n\n"
          "Runs a Python program; python3's options keep their meaning (--help). Terra's own:\n\n";
  for (const Option& option : options) {
    std::string left = "  --" + std::string(option.name);
    if (option.value != Value::none) left += "=" + std::string(option.form);
    add_row(text, left, option.help);
    add_row(text, "", option.variable);
  }
  add_row(text, "  --coverage", "runs nothing: lists the names of torch that the script and the files");
  add_row(text, "", "beside it use, and which are absent here; exit status 1 if some are");
  text << "\nThe variable below an option says the same to child processes. %p in FILE is the process id.\n"
          "\nVariables without an option:\n\n";
  for (const Variable& variable : variables)
    add_row(text, "  " + std::string(variable.name) + "=" + std::string(variable.form), variable.help);
  return text.str();
}

}  // namespace terra
