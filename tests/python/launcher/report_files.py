"""--report, --report-html and --trace write what they say; a file that can't be written is an error, said before the
program runs where that can be known."""
import html.parser
import json
import os
import subprocess
import sys
import tempfile

CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("TERRA_")}
PROGRAM = """
import terra, sys
def scaled_sum(x, k):
    return (x * k).sum()
def step(x):
    return scaled_sum(x, 2.0) + scaled_sum(x, 3.0)
for i in range(40): step(terra.ones(64, 64) * i)
print("</script><b>ran")
"""


def run(folder, *arguments, program=PROGRAM, **variables):
    return subprocess.run([sys.executable, *arguments, "-c", program], cwd=folder, env=CLEAN | variables,
                          capture_output=True, text=True)


class Scripts(html.parser.HTMLParser):
    """The contents of script elements by id, and whether anything is loaded from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.found, self.id, self.loads = {}, None, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.loads += [value for name, value in attributes if name in ("src", "href")]
        self.id = named.get("id", "code") if tag == "script" else None

    def handle_endtag(self, tag):
        self.id = None

    def handle_data(self, data):
        if self.id:
            self.found[self.id] = self.found.get(self.id, "") + data


with tempfile.TemporaryDirectory() as folder:
    def path(name):
        return os.path.join(folder, name)

    # All of them at once.
    result = run(folder, "--report=r.json", "--report-html=r.html", "--trace=t.json")
    assert (result.returncode, result.stderr) == (0, ""), result
    report = json.load(open(path("r.json")))
    frames = {frame["name"]: frame for frame in report["frames"]}
    assert frames["step"]["entries"][0]["hits"] > 0, frames

    page = open(path("r.html"), encoding="utf-8").read()
    scripts = Scripts(page)
    shown = json.loads(scripts.found["report"])
    assert {frame["name"] for frame in shown["frames"]} == set(frames), shown
    assert shown["replays"] == report["replays"] and "step" in json.loads(scripts.found["explanation"])
    assert scripts.loads == [] and "report.frames" in scripts.found["code"]

    trace = json.load(open(path("t.json")))
    events = [event for event in trace["traceEvents"] if event["name"] == "step"]
    kinds = {event["cat"] for event in events}
    assert "recorded" in kinds and kinds & {"served", "direct"}, kinds
    assert any(event["cat"] == "compiled" for event in trace["traceEvents"])
    assert trace["otherData"]["left_out"] == 0
    for event in trace["traceEvents"]:
        assert event["ph"] == "X" and event["ts"] >= 0 and event["dur"] >= event["args"]["self_us"] >= -0.01, event
    spans = {cat: [(event["ts"], event["ts"] + event["dur"]) for event in trace["traceEvents"] if event["cat"] == cat]
             for cat in ("recorded", "compiled")}
    for begin, end in spans["compiled"]:
        assert any(first <= begin and end <= last + 0.01 for first, last in spans["recorded"]), spans
    assert sum(event["cat"] in ("served", "direct") for event in trace["traceEvents"]) == report["replays"]

    # A program that never imports terra, and one without capture: files with nothing in them, but for frames of the
    # machine's own that start with Python and may take long.
    result = run(folder, "--trace=none.json", "--report-html=none.html", program="print(1)")
    kinds = {event["cat"] for event in json.load(open(path("none.json")))["traceEvents"]}
    assert (result.returncode, kinds - {"plain"}) == (0, set()), result
    result = run(folder, "--capture=off", "--trace=off.json")
    assert (result.returncode, json.load(open(path("off.json")))["traceEvents"]) == (0, []), result

    # What can't be written is said before the program runs, and the program does not run.
    os.mkdir(path("folder"))
    for option in ("report", "report-html", "trace"):
        for name, why in (("missing/r", f"there is no folder {path('missing')}"), ("folder", "that is a folder")):
            result = run(folder, f"--{option}={name}")
            assert (result.returncode, result.stdout) == (2, ""), result
            message = result.stderr.replace(os.path.realpath(folder), folder).splitlines()[0]
            assert message == f"terra-run: option --{option} can't write to {path(name)}: {why}.", message

    # It may become impossible later: the status says so, and the rest is written.
    gone = "import os, shutil; shutil.rmtree('later'); print('ran')"
    for option in ("report", "report-html", "trace"):
        os.mkdir(path("later"))
        result = run(folder, f"--{option}=later/file", "--report=kept.json" if option != "report" else "--trace=kept.json",
                     program=gone)
        assert (result.returncode, result.stdout) == (1, "ran\n"), result
        assert result.stderr.startswith(f"terra: option --{option} can't write to ") and "No such file" in result.stderr
        assert os.path.exists(path("kept.json"))
        os.remove(path("kept.json"))
    os.mkdir(path("later"))
    result = run(folder, "--report=later/file", program=gone + "; import sys; sys.exit(7)")
    assert result.returncode == 7, result

    # %p is the process.
    result = run(folder, "--trace=%p.json", program="import os; print(os.getpid())")
    assert os.path.exists(path(f"{result.stdout.strip()}.json")), os.listdir(folder)
print("14 passed")
