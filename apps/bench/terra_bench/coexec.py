"""The way to measure co-execution: one training loop in all the ways that Terra can run it, and in a peer."""

import itertools
import statistics

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


def add_arguments(parser):
    group = parser.add_argument_group("coexec")
    group.add_argument("--net", nargs="+", choices=NETS, default=NETS)
    group.add_argument("--between", nargs="+", choices=BETWEEN, default=BETWEEN, help="what the loop does behind a step")


def coexec(name, benchmark, ours, peer, rounds):
    chosen, rows = benchmark.settings, []
    for net, between in itertools.product(chosen["net"], chosen["between"]):
        rows += one_loop(name, benchmark, ours, peer, rounds, {"net": net, "between": between})
    return rows


def one_loop(name, benchmark, ours, peer, rounds, spec):
    workers = [(way, ours.with_variables(**variables).start(benchmark.program, way, **spec)) for way, variables in WAYS_OF_OURS.items()]
    if peer:
        workers.append(("peer", peer.start(benchmark.program, "peer", **spec)))
    calls = {who: calls_for(worker) for who, worker in workers}
    before = {who: segment(worker) for who, worker in workers if who in ("serial", "beside")}
    taken = alternate(workers, calls, rounds)
    after = {who: segment(worker) for who, worker in workers if who in ("serial", "beside")}
    for _, worker in workers:
        worker.stop()
    middle = {who: statistics.median(times) for who, times in taken.items()}
    unit, factor = unit_of(middle["eager"])
    rows = []
    for way in WAYS_OF_OURS:
        note = f"{middle['eager'] / middle[way]:.2f}x eager"
        if way == "beside":
            note += ", " + hidden(middle, before, after)
        rows.append(
            row(
                name, benchmark, f"{spec['net']}, {spec['between']}, {way}", [factor * t for t in taken[way]],
                [factor * t for t in taken.get("peer", [])], unit, ours.threads, peer, note=note,
            )
        )  # fmt: skip
    return rows


def segment(worker):
    """(iterations, milliseconds of the graph runner) of the loop that took most iterations so far."""
    found = max(worker.ask(do="stats")["stats"]["segments"], key=lambda s: s["iterations"], default=None)
    return (found["iterations"], found["runner_ms"]) if found else (0, 0.0)


def hidden(middle, before, after):
    """How much of Python's time the graph runner's covers: what overlapping saves over taking turns, by what Python takes
    when both take turns."""
    iterations, worked = (b - a for a, b in zip(before["serial"], after["serial"]))
    if not iterations:
        return "no iteration ran so"
    python = middle["serial"] - worked / 1e3 / iterations
    share = (middle["serial"] - middle["beside"]) / min(python, middle["serial"] - python)
    return f"hides {100 * share:.0f} % of what could be of {1e6 * python:.0f} us of Python"
