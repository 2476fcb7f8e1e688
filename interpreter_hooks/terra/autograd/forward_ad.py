"""Forward derivatives: inside a level tensors carry tangents, and what is computed of them has one too.

Tangents are found when they are asked for, as gradients of gradients along the tape of what was computed."""

import typing

import _terra_C as C

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_levels = []  # one list of (dual tensor, tangent) per level that was entered


class UnpackedDualTensor(typing.NamedTuple):
    primal: C.Tensor
    tangent: C.Tensor


def enter_dual_level():
    """The number of the new level."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append([])
    return 0


def exit_dual_level(*, level=None):
    if not _levels:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created.")
    _levels.pop()


class dual_level:
    """A context in which tensors have tangents."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exception):
        exit_dual_level()


def make_dual(tensor, tangent, *, level=None):
    """The tensor with a tangent."""
    from ..func.derivatives import check_tangent

    if not _levels:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    check_tangent(tensor, tangent)
    with C.enable_grad():
        dual = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
    _levels[-1].append((dual, tangent))
    return dual


def unpack_dual(tensor, *, level=None):
    """(the tensor, its tangent or None)"""
    if not _levels or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    for dual, tangent in _levels[-1]:
        if tensor is dual:
            return UnpackedDualTensor(tensor.detach(), tangent)
    duals = [dual for dual, _ in _levels[-1]]
    if not duals:
        return UnpackedDualTensor(tensor, None)
    keep = any(not dual.is_leaf or tangent.requires_grad for dual, tangent in _levels[-1])
    with C.enable_grad():
        weights = C.zeros_like(tensor).requires_grad_()
        found = C.grad([tensor], duals, [weights], create_graph=True, retain_graph=True, allow_unused=True)
        used = [(g, t) for g, (_, t) in zip(found, _levels[-1]) if g is not None]
        if not used:
            return UnpackedDualTensor(tensor, None)
        varying = [(g, t) for g, t in used if g.requires_grad]
        along = None
        if varying:
            (along,) = C.grad(
                [g for g, _ in varying], [weights], [t for _, t in varying], create_graph=keep, allow_unused=True
            )
    along = C.zeros_like(tensor) if along is None else along
    return UnpackedDualTensor(tensor if keep else tensor.detach(), along if keep else along.detach())
