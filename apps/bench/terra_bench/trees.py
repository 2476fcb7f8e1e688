"""The way to measure recursive networks: Terra runs the plain recursive program, a peer that program and, where there is
one, its form batched by hand. What they compute is compared before it is timed."""

import itertools
import statistics

from .measure import alternate, calls_for, row, unit_of
from .programs.sgemm import FLOPS

MODELS = ("tree_lstm", "tree_rnn", "rntn", "top_down_tree_lstm", "child_sum_tree_lstm")
FORMS_OF = {"tree_lstm": ("iterative", "unrolled"), "top_down_tree_lstm": ("sub_graph",)}  # of ours, besides "recursive"
FORMS = ("recursive", *itertools.chain(*FORMS_OF.values()))
SHAPES = ("natural", "balanced", "linear")
BY_LEVEL = "tree_lstm"  # the model with a form batched by hand
GOALS = {
    ("tree_lstm", "recursive"): ">= 10x, 60 % of sgemm", ("tree_lstm", "by_level"): ">= 1.5x",
    ("tree_rnn", "recursive"): ">= 15x", ("rntn", "recursive"): ">= 10x", ("top_down_tree_lstm", "recursive"): ">= 10x",
}  # fmt: skip
GOAL_OF_ONE = ">= 6x"  # TreeLSTM, a batch of one tree
CHECKED_STEPS, TOLERANCE = 6, 1e-4


def add_arguments(parser):
    group = parser.add_argument_group("trees")
    group.add_argument("--model", nargs="+", choices=MODELS, default=MODELS[:4])
    group.add_argument("--batch", nargs="+", type=int, default=[25, 10, 1], metavar="N", help="trees in a step")
    group.add_argument("--shape", nargs="+", choices=SHAPES, default=SHAPES[:1], help="of the trees that are drawn")
    group.add_argument("--form", nargs="+", choices=FORMS, default=FORMS[:1], help="of the model that Terra runs, if it has that")
    group.add_argument("--optimizer", choices=("sgd", "adagrad", "adam"), default="sgd")
    group.add_argument("--data", metavar="FOLDER", help="take the trees of this treebank")


def trees(name, benchmark, ours, peer, rounds):
    chosen = benchmark.settings
    rows = []
    for model, batch, shape in itertools.product(chosen["model"], chosen["batch"], chosen["shape"]):
        for form in [f for f in chosen["form"] if f in ("recursive", *FORMS_OF.get(model, ()))]:
            spec = {"model": model, "batch": batch, "shape": shape, "optimizer": chosen["optimizer"]}
            spec |= {"data": chosen["data"]} if chosen["data"] else {}
            rows += one_case(name, benchmark, ours, peer, rounds, spec, form)
    return rows


def one_case(name, benchmark, ours, peer, rounds, spec, form):
    """Rows of ours, captured and eager, against each form of the peer; all in turns, and the yardstick with them."""
    model, batch = spec["model"], spec["batch"]
    peer_forms = () if peer is None else ("recursive", "by_level") if model == BY_LEVEL else ("recursive",)
    workers = [(variant, ours.start("trees", variant, **spec, form=form)) for variant in benchmark.variants]
    workers += [(peer_form, peer.start("trees", "peer", **spec, form=peer_form)) for peer_form in peer_forms]
    compare_losses(workers, spec)
    flops = dict(workers)["eager"].ask(do="facts")["flops"]
    versions = {"ours": workers[0][1].hello["version"]} | ({"peer": workers[-1][1].hello["version"]} if peer else {})
    workers.append(("sgemm", ours.start("sgemm", "eager")))
    taken = alternate(workers, {who: calls_for(worker) for who, worker in workers}, rounds)
    for _, worker in workers:
        worker.stop()
    yardstick = FLOPS / statistics.median(taken["sgemm"])
    rows = []
    for variant in benchmark.variants:
        seconds = statistics.median(taken[variant])
        unit, factor = unit_of(seconds)
        share = flops / seconds / yardstick
        note = f"{flops / batch / 1e6:.1f} MFLOP a tree, {batch / seconds:.0f} trees/s, {100 * share:.0f} % of sgemm"
        what = f"{model}, batch {batch}, {'SST' if 'data' in spec else spec['shape']}, {form}, {variant}"
        for peer_form in peer_forms or (None,):
            measured = row(
                name, benchmark, what, [factor * t for t in taken[variant]], [factor * t for t in taken.get(peer_form, [])],
                unit, ours.threads, peer, versions=versions, note=note, flops=flops, sgemm_flops_per_second=yardstick,
            )  # fmt: skip
            goal = GOAL_OF_ONE if (model, batch, peer_form) == (BY_LEVEL, 1, "recursive") else GOALS.get((model, peer_form), "")
            rows.append(measured | {"goal": goal if variant == "captured" else ""})
            rows[-1]["peer_kind"] += f", {peer_form}" if peer_form else ""
    return rows


def compare_losses(workers, spec):
    """Of the first steps; those of a peer from the same seed must be ours."""
    losses = {who: worker.ask(do="results", calls=CHECKED_STEPS)["results"] for who, worker in workers}
    (first, expected), *others = losses.items()
    for who, values in others:
        for step, (a, b) in enumerate(zip(expected, values), 1):
            if not abs(a - b) <= TOLERANCE * abs(a):
                raise SystemExit(
                    f"terra-bench: the loss of step {step} of {spec} is {a} for {first} and {b} for {who}: "
                    f"they don't compute the same, and their times can't be compared"
                )
