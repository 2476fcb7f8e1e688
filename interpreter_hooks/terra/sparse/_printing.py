"""repr() of sparse tensors: that of their parts, one below the other."""

import _terra_C as C

_INDENT = 7  # "tensor("


def _part(name, part):
    head = f"{name}=tensor("
    if part.numel() == 0:
        return f"{head}[], size={tuple(part.shape)})"
    return f"{head}{C._elements_text(part.detach().contiguous(), _INDENT + len(head))})"


def text(tensor):
    dtype = tensor.dtype
    usual = dtype in (C.get_default_dtype(), C.int64, C.bool) or (
        dtype == C.complex64 and C.get_default_dtype() == C.float32
    )
    suffixes = [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    if not usual:
        suffixes.append(f"dtype={dtype}")
    suffixes.append(f"layout={tensor.layout}")
    if tensor.grad_fn:
        suffixes.append(f"grad_fn=<{type(tensor.grad_fn).__name__}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    new_line = ",\n" + " " * _INDENT
    body = "tensor(" + new_line.join(_part(name, part) for name, part in tensor._named_parts())
    width, length = C.get_printoptions()["linewidth"], len(body) - body.rfind("\n") + 1
    for at, suffix in enumerate(suffixes):
        if (at == 0 and tensor.is_sparse) or length + len(suffix) + 2 > width:
            body, length = body + new_line + suffix, _INDENT + len(suffix)
        else:
            body, length = body + ", " + suffix, length + len(suffix) + 2
    return body + ")"
