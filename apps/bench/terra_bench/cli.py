"""The command line of terra-bench."""

import argparse
import dataclasses
import pathlib
import sys

from . import coexec, machine, report, trees
from .catalogue import BENCHMARKS
from .subject import Subject
from .ways import WAYS


def main(own_folder):
    parser = argparse.ArgumentParser(prog="terra-bench", description="Measures Terra, and a peer beside it.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="names and what they measure")
    run = commands.add_parser("run", help="measure")
    run.add_argument("names", nargs="+", metavar="NAME", help="benchmarks, or 'all'")
    run.add_argument("--peer", action="append", default=[], metavar="KIND=PYTHON",
                     help="torch=/path/to/venv/bin/python or jax=...; repeated for more than one")
    run.add_argument("--threads", type=int, default=1)
    run.add_argument("--rounds", type=int, default=11, help="alternations of ours and the peer")
    run.add_argument("--json", metavar="FILE", help="also write everything there")
    run.add_argument("--terra-run", default=str(own_folder / "terra-run"), help="the program to measure")
    trees.add_arguments(run)
    coexec.add_arguments(run)
    arguments = parser.parse_args()
    if arguments.command == "list":
        return list_benchmarks()
    return run_benchmarks(arguments)


def list_benchmarks():
    width = max(map(len, BENCHMARKS))
    for name, benchmark in BENCHMARKS.items():
        print(f"{name:{width}}  {benchmark.what}")
    return 0


def run_benchmarks(arguments):
    names = list(BENCHMARKS) if arguments.names == ["all"] else arguments.names
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"terra-bench: no benchmark {unknown[0]!r}; see terra-bench list", file=sys.stderr)
        return 2
    if not pathlib.Path(arguments.terra_run).exists():
        print(f"terra-bench: {arguments.terra_run} does not exist; build it or give --terra-run", file=sys.stderr)
        return 2
    ours = Subject("terra", [arguments.terra_run, "--torch"], arguments.threads)
    peers = []
    for words in arguments.peer:
        kind, _, python = words.partition("=")
        if kind not in ("torch", "jax") or not python:
            print("terra-bench: --peer takes torch=PYTHON or jax=PYTHON", file=sys.stderr)
            return 2
        peers.append(Subject(kind, [python], arguments.threads))
    facts = machine.facts(arguments.terra_run)
    probe_before = machine.two_core_scaling()
    rows = []
    for name in names:
        for peer in [p for p in peers if p.has(BENCHMARKS[name].program)] or [None]:
            print(f"{name}{f' beside {peer.kind}' if peer else ''} ...", file=sys.stderr, flush=True)
            benchmark = dataclasses.replace(BENCHMARKS[name], settings=vars(arguments))
            rows += WAYS[benchmark.way](name, benchmark, ours, peer, arguments.rounds)
    probe_after = machine.two_core_scaling()
    scaling = min(probe_before, probe_after)
    for row in rows:
        row["void"] = row["threads"] > 1 and scaling < machine.LEAST_SCALING
    facts["two_core_scaling"] = [round(probe_before, 2), round(probe_after, 2)]
    print(report.table(rows, facts))
    if arguments.json:
        report.write_json(arguments.json, rows, facts)
    return 0
