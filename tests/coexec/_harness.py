"""Programs of a few lines, op by op and co-executed: what they say must be the same, and their ops must have been put off."""
import os
import sys

import terra


def counts():
    stats = terra.capture.stats()
    graphs = max((segment["graph_runs"] for segment in stats["segments"]), default=0)
    in_frames = sum(segment["iterations_in_frames"] for segment in stats["segments"])
    return {"iterations": stats["runs"]["coexec_iterations"] + in_frames, "stubs": stats["ops"]["stub"], "graphs": graphs,
            "divergences": stats["divergences"]}


def run(program, mode):
    terra.manual_seed(7)
    with terra.capture.mode(mode):
        return program()


def compare(program, iterations=5, graphs=1, divergences=0):
    """`program` returns what it would print. At least so many iterations, runs of graphs and divergences."""
    plain = run(program, "off")
    before = counts()
    beside = run(program, "coexec")
    after = counts()
    assert len(plain) == len(beside), (program.__name__, len(plain), len(beside))
    for at, (expected, found) in enumerate(zip(plain, beside)):
        assert expected == found, f"{program.__name__}: item {at} is {found!r}, not {expected!r}"
    grown = {name: after[name] - before[name] for name in after}
    if os.environ.get("TERRA_RUNNER") == "turns":
        iterations = min(iterations, 1)  # the frame tier may capture the whole loop when its turn comes
    assert grown["iterations"] >= iterations, (program.__name__, grown)
    assert grown["stubs"] > 0, (program.__name__, grown)
    assert grown["graphs"] >= graphs, (program.__name__, grown)
    assert grown["divergences"] >= divergences, (program.__name__, grown)


def run_tests(tests):
    chosen = sys.argv[1:]
    failed = 0
    for test in tests:
        if chosen and test.__name__ not in chosen:
            continue
        try:
            test()
        except Exception as error:
            failed += 1
            print(f"{test.__name__}: {type(error).__name__}: {error}")
            if chosen:
                raise
    print(f"{len(tests) - failed} passed")
    sys.exit(bool(failed))
