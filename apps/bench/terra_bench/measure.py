"""Ways to measure. Each gives rows: dicts with benchmark, variant, threads, unit, ours, peer, ratio (peer over ours, so that
more is better for us), spread (interquartile range over median, of ours) and the raw numbers."""

import importlib
import pathlib
import statistics
import subprocess
import sys
import time

from .subject import Subject

BLOCK_SECONDS = 0.25
STEPS_SHOWN = (1, 2, 5, 10, 100)


def spread(values):
    if len(values) < 4:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / statistics.median(values)


def row(name, benchmark, variant, ours, peer, unit, threads, subject=None, **more):
    """`ours` and `peer`: lists of measurements in `unit`, taken in turns; the peer is that of `subject`."""
    middle = statistics.median(ours)
    result = {
        "benchmark": name, "variant": variant, "threads": threads, "unit": unit, "goal": benchmark.goal,
        "ours": middle, "spread": spread(ours), "ours_all": ours, "peer": None, "ratio": None, "peer_all": peer,
        "peer_kind": subject.kind if subject else "",
    }  # fmt: skip
    if peer:
        result |= {"peer": statistics.median(peer), "ratio": statistics.median(peer) / middle}
    return result | more


def calls_for(worker):
    """How many calls fill a block, from calls that double in number; warms the program up on the way."""
    calls, begin = 1, time.perf_counter()
    while True:
        seconds = worker.ask(do="block", calls=calls)["wall"]
        if seconds > BLOCK_SECONDS / 4 and time.perf_counter() - begin > 4 * BLOCK_SECONDS:
            return max(1, round(calls * BLOCK_SECONDS / seconds))
        if seconds < BLOCK_SECONDS / 2:
            calls *= 2


def repeats_of(benchmark):
    """How often a step of the program does what is measured."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    return getattr(importlib.import_module("programs." + benchmark.program), "REPEATS", 1)


def unit_of(seconds):
    return ("us", 1e6) if seconds < 2e-3 else ("ms", 1e3)


def alternate(workers, calls, rounds):
    """Blocks of calls in turns: who -> seconds of a call, a number for each round. `workers`: pairs of who and worker."""
    taken = {who: [] for who, _ in workers}
    for _ in range(rounds):
        for who, worker in workers:
            taken[who].append(worker.block(calls[who]))
    return taken


def blocks(name, benchmark, ours, peer, rounds):
    """Alternating blocks of calls."""
    repeats = repeats_of(benchmark)
    workers = [(variant, ours.start(benchmark.program, variant)) for variant in benchmark.variants]
    if peer:
        workers.append(("peer", peer.start(benchmark.program, "peer")))
    taken = alternate(workers, {variant: calls_for(worker) for variant, worker in workers}, rounds)
    taken = {variant: [seconds / repeats for seconds in times] for variant, times in taken.items()}
    stats = workers[0][1].ask(do="stats")["stats"]
    versions = {variant: worker.hello["version"] for variant, worker in workers}
    for _, worker in workers:
        worker.stop()
    unit, factor = unit_of(statistics.median(taken[benchmark.variants[0]]))
    scaled = {variant: [factor * t for t in times] for variant, times in taken.items()}
    rows = []
    for variant in benchmark.variants:
        more = {"versions": versions} | ({"stats": stats} if variant == "captured" else {})
        rows.append(row(name, benchmark, variant, scaled[variant], scaled.get("peer", []), unit, ours.threads, peer, **more))
    return rows


def above(name, benchmark, ours, peer, rounds):
    """What a captured call costs above its graph: a loop of calls, less the same loop around nothing, less the graph run
    from C++ on the same tensors. Of each the least of many short blocks, for whatever interrupts only adds; the spread
    is that of all blocks."""
    repeats = repeats_of(benchmark)
    worker = ours.start(benchmark.program, "captured")
    calls = max(1, calls_for(worker) // 1000)
    taken = {"call": [], "graph": [], "loop": []}
    for _ in range(500 * rounds):
        times = worker.ask(do="above", calls=calls)
        call, empty = (times[part] / calls / repeats for part in ("call", "empty"))
        for part, seconds in (("call", call), ("graph", times["graph"]), ("loop", empty)):
            taken[part].append(1e9 * seconds)
    worker.stop()
    least = {part: min(values) for part, values in taken.items()}
    least["above"] = least["call"] - least["loop"] - least["graph"]
    taken["above"] = taken.pop("call")
    return [row(name, benchmark, part, [least[part]], [], "ns", ours.threads, spread=spread(taken[part]),
                ours_all=taken[part]) for part in ("above", "graph", "loop")]  # fmt: skip


def warmup(name, benchmark, ours, peer, rounds):
    """Fresh processes in turns; time from the first step's start, the import apart."""
    taken = {"ours": [], "peer": []}
    for _ in range(max(3, rounds // 4)):
        for who, subject in (("ours", ours), ("peer", peer)):
            if subject is not None:
                worker = subject.start(benchmark.program, "captured")
                taken[who].append(worker.ask(do="each", calls=max(STEPS_SHOWN))["seconds"])
                worker.stop()
    return [
        row(
            name, benchmark, f"to step {n}", [1e3 * run[n - 1] for run in taken["ours"]],
            [1e3 * run[n - 1] for run in taken["peer"]], "ms", ours.threads, peer,
        )
        for n in STEPS_SHOWN
    ]  # fmt: skip


def busy(name, benchmark, ours, peer, rounds):
    """Blocks without and with a process beside them that computes all the time; the number is the slow-down."""
    workers = [(who, subject.start(benchmark.program, "captured")) for who, subject in (("ours", ours), ("peer", peer)) if subject]
    calls = {who: calls_for(worker) for who, worker in workers}
    slowdowns = {"ours": [], "peer": []}
    for _ in range(max(3, rounds // 2)):
        idle = {who: worker.block(calls[who]) for who, worker in workers}
        neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        time.sleep(0.05)
        try:
            for who, worker in workers:
                slowdowns[who].append(worker.block(calls[who]) / idle[who])
        finally:
            neighbour.kill()
            neighbour.wait()
    for _, worker in workers:
        worker.stop()
    return [row(name, benchmark, "busy / idle", slowdowns["ours"], slowdowns["peer"], "x", ours.threads, peer)]


def memory(name, benchmark, ours, peer, rounds):
    """Peak resident memory over that of the import, in fresh processes."""
    taken = {"ours": [], "peer": []}
    for _ in range(3):
        for who, subject in (("ours", ours), ("peer", peer)):
            if subject is not None:
                worker = subject.start(benchmark.program, "captured")
                worker.block(20)
                sizes = worker.ask(do="memory")
                taken[who].append((sizes["peak"] - sizes["base"]) / 1024)
                worker.stop()
    return [row(name, benchmark, "peak over import", taken["ours"], taken["peer"], "MB", ours.threads, peer)]


SYSTEM_PYTHON = "/usr/bin/python3"


def slowdown(name, benchmark, ours, peer, rounds):
    """Programs without tensors: blocks with the frame hook kept in place (hook), and as it comes to rest (auto), over
    blocks without it (off), and these over the system's Python."""
    subjects = {
        "auto": ours, "hook": ours, "off": ours.with_variables(TERRA_CAPTURE="off"), "python3": Subject("python", [SYSTEM_PYTHON], 1),
    }  # fmt: skip
    variants = {"hook": "awake"}
    workers = {who: subject.start(benchmark.program, variants.get(who, who)) for who, subject in subjects.items()}
    taken = alternate(workers.items(), {who: calls_for(worker) for who, worker in workers.items()}, rounds)
    for worker in workers.values():
        worker.stop()
    return [
        row(name, benchmark, f"{a} / {b}", [x / y for x, y in zip(taken[a], taken[b])], [], "x", 1)
        for a, b in (("hook", "off"), ("auto", "off"), ("off", "python3"))
    ]


def recording(name, benchmark, ours, peer, rounds):
    """What captures cost in a fresh process: recording and optimizing, the frames' own work aside."""
    total, each = [], []
    for _ in range(3):
        worker = ours.start(benchmark.program, "captured")
        worker.block(8)
        stats = worker.ask(do="stats")["stats"]
        total.append(stats["capture_ms"])
        each.append(stats["capture_ms"] / max(1, stats["recordings"]))
        worker.stop()
    return [
        row(name, benchmark, "all recordings", total, [], "ms", ours.threads),
        row(name, benchmark, "per recording", each, [], "ms", ours.threads),
    ]


RUN_SECONDS = 60


def self_check(name, benchmark, ours, peer, rounds):
    """What comparing replays with plain execution takes of a run of a minute."""
    worker = ours.start(benchmark.program, "captured")
    calls, begin = calls_for(worker), time.perf_counter()
    while time.perf_counter() - begin < RUN_SECONDS:
        worker.block(calls)
    stats = worker.ask(do="stats")["stats"]
    worker.stop()
    share = 100 * stats["self_check_ms"] / (1e3 * stats["seconds"])
    return [row(name, benchmark, "of the run", [share], [], "%", ours.threads, stats=stats)]


RESIDENT = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


def startup(name, benchmark, ours, peer, rounds):
    """Wall time of a whole process, and its largest resident size."""
    times, sizes = {"ours": [], "peer": []}, {"ours": [], "peer": []}
    for _ in range(rounds):
        for who, subject, package in (("ours", ours, "terra"), ("peer", peer, "torch")):
            if subject is None:
                continue
            code = f"import {package}; {package}.ones(2)"
            begin = time.perf_counter()
            subprocess.run(subject.one_line(code), check=True, env=subject.environment())
            times[who].append(1e3 * (time.perf_counter() - begin))
            shown = subprocess.run(
                subject.one_line(f"{code}; {RESIDENT}"), check=True, env=subject.environment(), capture_output=True, text=True
            )
            sizes[who].append(int(shown.stdout) / 1024)
    return [
        row(name, benchmark, "wall", times["ours"], times["peer"], "ms", 1, peer),
        row(name, benchmark, "resident", sizes["ours"], sizes["peer"], "MB", 1, peer),
    ]
