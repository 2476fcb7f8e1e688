"""The ways to measure co-execution: one training loop in all the ways that Terra can run it, and in a peer; and the ten
programs of models/terra."""

import itertools
import json
import pathlib
import statistics
import subprocess
import time

from .measure import alternate, calls_for, row, unit_of

NETS = ("small", "mlp", "lenet", "gpt")
BETWEEN = ("nothing", "keeps", "reads", "busy")
WAYS_OF_OURS = {
    "eager": {"TERRA_CAPTURE": "off"},
    "frames": {"TERRA_CAPTURE": "frame"},
    "measured": {"TERRA_CAPTURE": "coexec"},
    "inline": {"TERRA_CAPTURE": "coexec", "TERRA_RUNNER": "inline"},
    "serial": {"TERRA_CAPTURE": "coexec", "TERRA_RUNNER": "serial"},
    "beside": {"TERRA_CAPTURE": "coexec", "TERRA_RUNNER": "beside"},
}


PROGRAMS = (
    "dropblock", "music_transformer", "sdpoint", "bert_cls", "faster_rcnn", "resnet50", "bert_qa", "gpt2", "dcgan", "yolov3",
)  # fmt: skip
LONGEST_TRIAL = 60  # seconds; trials may cost a loop a small part of its time, so that they take a while
STEPPER = pathlib.Path(__file__).resolve().parent / "stepper.py"


def add_arguments(parser):
    group = parser.add_argument_group("coexec")
    group.add_argument("--net", nargs="+", choices=NETS, default=NETS)
    group.add_argument("--between", nargs="+", choices=BETWEEN, default=BETWEEN, help="what the loop does behind a step")
    group.add_argument("--program", nargs="+", choices=PROGRAMS, default=PROGRAMS, help="of models/terra")
    group.add_argument("--steps", type=int, default=60, help="of a run of such a program")


def coexec(name, benchmark, ours, peer, rounds):
    chosen, rows = benchmark.settings, []
    for net, between in itertools.product(chosen["net"], chosen["between"]):
        rows += one_loop(name, benchmark, ours, peer, rounds, {"net": net, "between": between})
    return rows


def one_loop(name, benchmark, ours, peer, rounds, spec):
    workers = [(way, ours.with_variables(**variables).start(benchmark.program, way, **spec)) for way, variables in WAYS_OF_OURS.items()]
    if peer:
        workers.append(("peer", peer.start(benchmark.program, "peer", **spec)))
    run_until_settled(dict(workers)["measured"])
    calls = {who: calls_for(worker) for who, worker in workers}
    before = {who: segment(worker) for who, worker in workers if who in ("measured", "serial", "beside")}
    taken = alternate(workers, calls, rounds)
    after = {who: segment(worker) for who, worker in workers if who in ("measured", "serial", "beside")}
    for _, worker in workers:
        worker.stop()
    middle = {who: statistics.median(times) for who, times in taken.items()}
    unit, factor = unit_of(middle["eager"])
    rows = []
    for way in WAYS_OF_OURS:
        note = f"{middle['eager'] / middle[way]:.2f}x eager"
        if way == "beside":
            note += ", " + hidden(middle, before, after)
        if way == "measured":
            note += ", " + ways_of(before[way], after[way], calls[way] * rounds)
        rows.append(
            row(
                name, benchmark, f"{spec['net']}, {spec['between']}, {way}", [factor * t for t in taken[way]],
                [factor * t for t in taken.get("peer", [])], unit, ours.threads, peer, note=note,
            )
        )  # fmt: skip
    return rows


def run_until_settled(worker):
    """Until a way has been chosen for the loop."""
    began = time.monotonic()
    while time.monotonic() - began < LONGEST_TRIAL:
        worker.block(100)
        if any(s["settled"] for s in worker.ask(do="stats")["stats"]["segments"]):
            return


def segment(worker):
    """(iterations in which ops were put off, milliseconds of the graph runner, iterations beside it) of the loop that took
    most iterations so far."""
    found = max(worker.ask(do="stats")["stats"]["segments"], key=lambda s: s["iterations"], default=None)
    return (found["iterations"], found["runner_ms"], found["iterations_beside"]) if found else (0, 0.0, 0)


def ways_of(before, after, calls):
    put_off, _, beside = (b - a for a, b in zip(before, after))
    inline, frames = put_off - beside, max(calls - put_off, 0)
    return f"of {calls} iterations {beside} beside, {inline} inline, {frames} left to frames"


def hidden(middle, before, after):
    """What running beside saves over taking turns on one thread, and what Python takes of an iteration when the program
    waits for each job."""
    iterations, worked, _ = (b - a for a, b in zip(before["serial"], after["serial"]))
    if not iterations:
        return "no iteration ran so"
    python = middle["serial"] - worked / 1e3 / iterations
    saved = middle["inline"] - middle["beside"]
    return f"saves {1e6 * saved:.0f} us over inline; Python and waking up take {1e6 * python:.0f}"


def programs(name, benchmark, ours, peer, rounds):
    """Fresh processes in turns. Of each the median of the steps behind the first half: by then ways are known."""
    chosen, rows = benchmark.settings, []
    subjects = {way: ours.with_variables(**WAYS_OF_OURS[way]) for way in ("eager", "frames", "measured")}
    subjects |= {"peer": peer} if peer else {}
    for program in chosen["program"]:
        taken = {who: [] for who in subjects}
        for _ in range(max(3, rounds // 4)):
            for who, subject in subjects.items():
                taken[who].append(1e3 * steady_step(subject, program, chosen["steps"]))
        eager = statistics.median(taken["eager"])
        for way in subjects:
            if way != "peer":
                note = f"{eager / statistics.median(taken[way]):.2f}x eager"
                measured = row(name, benchmark, f"{program}, {way}", taken[way], taken.get("peer", []), "ms", ours.threads, peer, note=note)
                rows.append(measured)
    return rows


def steady_step(subject, program, steps):
    """Seconds."""
    command = [*subject.command, str(STEPPER), program, str(subject.threads), str(steps)]
    run = subprocess.run(command, env=subject.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if run.returncode:
        raise SystemExit(f"terra-bench: {' '.join(command)} ended with status {run.returncode}")
    seconds = json.loads(run.stdout)
    return statistics.median(seconds[len(seconds) // 2 :])
