# run: --torch
"""einsum: how equations are read, and what is said of those that say nothing."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

a, b, square, one = wave(2, 3), wave(3, 4), wave(3, 3), wave(2)
EQUATIONS = """
"i j , j k -> i k", a, b | "Ab,bc->cA", a, b | "ij,jk", a, b | "...ij->...ji", a | "b...,b...->b", a, a
"ij->", a | "ii", square | "ii->i", square | "...,...j", a, b | "ij...,jk->...ik", a, b | "i...", a
"ij,jk->ik", a | "ij->ij", a, b | "ij,jk", a, b, b | "", a | "ij,,jk", a, b
"ijk,jk", a, b | "ij,jkl", a, b | "i...j,jk", one, b | "ij,kj", a, b | "ii", a | "ij,kk", a, b
"ij,jk->iz", a, b | "ij,jk->ii", a, b | "ij->...i", a
"ij,jk-ik", a, b | "ij,jk->i->k", a, b | "i1,jk", a, b | "ij,jk->i1", a, b | "i\\u00e9,jk", a, b
"ij...k...,jk", a, b | ".ij", a | "ij,..jk", a, b | "ij,jk->i.k", a, b | "ij,jk->i......k", a, b
"""
calls = "\n".join(
    " | ".join(f"torch.einsum({call.strip()})" for call in line.split(" | ")) for line in EQUATIONS.strip().split("\n")
)
check(list(outcomes(calls, globals())), __file__)
