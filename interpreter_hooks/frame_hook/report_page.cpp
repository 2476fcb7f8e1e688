// --report-html: the page is fixed, and a script in it shows the data that stands behind it. All text of the program's
// is shown as text, whatever is in it.
#include "interpreter_hooks/frame_hook/report_files.h"

namespace terra::capture {

namespace {

constexpr const char* before_data = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Terra: what was captured</title>
<style>
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25em .6em; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; } pre { overflow-x: auto; background: #f6f6f6; padding: .6em; }
.captured, .settled { color: #06672a; } .given { color: #a3231a; } .muted { color: #777; }
</style>
</head>
<body>
<h1>Terra: what was captured, what not, and why</h1>
<div id="page"></div>
<script type="application/json" id="report">)";

constexpr const char* before_explanation = R"(</script>
<script type="application/json" id="explanation">)";

constexpr const char* after_data = R"(</script>
<script>
const read = id => JSON.parse(document.getElementById(id).textContent);
const report = read("report"), page = document.getElementById("page");
function add(parent, tag, text, kind) {
  const made = parent.appendChild(document.createElement(tag));
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
function table(parent, titles) {
  const made = add(parent, "table"), row = add(made, "tr");
  for (const [title, kind] of titles) add(row, "th", title, kind);
  return values => {
    const line = add(made, "tr");
    return titles.map(([, kind], i) => add(line, "td", values[i], kind));
  };
}
add(page, "h2", "Totals");
const total = table(page, [["what"], ["how much", "number"]]);
function totals(prefix, values) {
  for (const [name, value] of Object.entries(values)) {
    if (Array.isArray(value)) continue;
    if (value && typeof value === "object") totals(prefix + name + ".", value);
    else total([prefix + name, typeof value === "number" ? value.toLocaleString("en") : String(value)]);
  }
}
totals("", report);
add(page, "h2", "Functions");
const row = table(page, [["function"], ["state"], ["calls", "number"], ["entries", "number"], ["hits", "number"],
                         ["misses", "number"], ["why not, and last miss"]]);
for (const frame of report.frames) {
  const sum = key => frame.entries.reduce((all, entry) => all + entry[key], 0);
  const cells = row([undefined, frame.state, frame.calls, frame.entries.length, sum("hits"), sum("misses")]);
  cells[1].className = frame.state.split(" ")[0];
  const details = add(cells[0], "details");
  add(details, "summary", frame.name);
  add(cells[0], "div", frame.file + ":" + frame.line, "muted");
  for (const entry of frame.entries) {
    add(details, "div", `entry: ${entry.hits} hits, ${entry.misses} misses, ${entry.nodes} nodes`);
    add(details, "pre", entry.guards.join("\n"));
    if (entry.last_miss) add(cells[6], "div", entry.last_miss);
  }
  if (frame.reason) add(cells[6], "div", `${frame.reason.id}: ${frame.reason.text} (${frame.reason.file}:${frame.reason.line})`);
  for (const cut of frame.cuts) add(cells[6], "div", `cut at line ${cut.line}; ${cut.id}: ${cut.text}`);
}
add(page, "h2", "In full");
add(page, "pre", read("explanation"));
</script>
</body>
</html>
)";

/// Inside a script element nothing but its end means anything; "<" can always be written otherwise in JSON.
std::string inside_script(const std::string& json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

std::string report_page(const std::string& json, const std::string& explanation_json) {
  return before_data + inside_script(json) + before_explanation + inside_script(explanation_json) + after_data;
}

}  // namespace terra::capture
