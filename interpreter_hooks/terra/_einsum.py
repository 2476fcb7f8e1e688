"""einsum: each step brings two operands to [batch, left, summed] x [batch, summed, right] and multiplies."""

import functools
import string

import _terra_C as C


def _subscripts(text, begin, twice, alone):
    """The letters of a term, which begins at that index of the equation, and '...' for an ellipsis; and what is said of dots
    behind an ellipsis, and of those that make none."""
    found, i = "", 0
    while i < len(text):
        if text[i] == ".":
            if "." in found:
                raise RuntimeError(f"einsum(): found '.' for {twice}")
            if not text.startswith("...", i):
                raise RuntimeError(f"einsum(): found '.' for {alone}")
            found += "..."
            i += 3
            continue
        if text[i] != " ":
            if text[i] not in string.ascii_letters:
                raise RuntimeError(
                    f"einsum(): invalid subscript given at index {begin + i} in the equation string, subscripts must be in "
                    "[a-zA-Z]"
                )
            found += text[i]
        i += 1
    return found


@functools.lru_cache(maxsize=512)
def _read(equation):
    """(terms of the operands, term of the output): None where there is no arrow."""
    inputs, arrow, output = equation.partition("->")
    terms, begin = [], 0
    for k, text in enumerate(inputs.split(",")):
        of = f"operand {k}"
        terms.append(
            _subscripts(text, begin, f"{of} for which an ellipsis was already found", f"{of} that is not part of any ellipsis")
        )
        begin += len(text) + 1
    if not arrow:
        return tuple(terms), None
    of_output = "output but an ellipsis (...) was already found", "output that is not part of any ellipsis (...)"
    return tuple(terms), _subscripts(output, len(inputs) + 2, *of_output)


def _spelled_out(term, ndim, operand, letters_for_dots):
    """The subscripts of an operand with '...' replaced by letters."""
    if "..." not in term:
        if len(term) != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the number of "
                f"dimensions ({ndim}) for operand {operand} and no ellipsis was given"
            )
        return term
    letters = len(term) - 3
    count = ndim - letters
    if count < 0:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({letters}) is more than the number of dimensions ({ndim}) "
            f"for operand {operand}"
        )
    return term.replace("...", letters_for_dots[len(letters_for_dots) - count :] if count else "")


def _letters_for_dots(equation, terms, operands):
    unused = [chr(c) for c in (*range(65, 91), *range(97, 123)) if chr(c) not in equation]
    widest = max([t.dim() - len(s) + 3 for s, t in zip(terms, operands) if "..." in s], default=0)
    return "".join(unused[: max(widest, 0)])


def parse(equation, operands):
    """(subscripts per operand, subscripts of the output)"""
    terms, output = _read(equation)
    if len(terms) != len(operands):
        raise RuntimeError(
            f"einsum(): {'fewer' if len(operands) < len(terms) else 'more'} operands were provided than specified in the equation"
        )
    dots = _letters_for_dots(equation, terms, operands) if "..." in equation else ""
    spelled = [_spelled_out(s, t.dim(), k, dots) for k, (s, t) in enumerate(zip(terms, operands))]
    everything = "".join(spelled)
    if output is not None:
        output = output.replace("...", dots)
    else:
        output = dots + "".join(sorted(c for c in set(everything) if everything.count(c) == 1 and c not in dots))
    for c in output:
        if c not in everything:
            raise RuntimeError(
                f"einsum(): output subscript {c} does not appear in the equation for any input operand"
            )
        if output.count(c) > 1:
            raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
    return spelled, output


def _diagonals(tensor, subscripts):
    """Repeated letters of one operand become one dimension."""
    for c in dict.fromkeys(subscripts):
        while subscripts.count(c) > 1:
            first = subscripts.index(c)
            second = subscripts.index(c, first + 1)
            tensor = tensor.diagonal(0, first, second)
            subscripts = subscripts.replace(c, "") + c
    return tensor, subscripts


def _summed(tensor, subscripts, keep):
    dims = [i for i, c in enumerate(subscripts) if c not in keep]
    return (tensor.sum(dims), "".join(c for c in subscripts if c in keep)) if dims else (tensor, subscripts)


def _check_repeated(tensor, subscripts, operand):
    sizes = {}
    for c, size in zip(subscripts, tensor.shape):
        first = sizes.setdefault(c, size)
        if first != size:
            raise RuntimeError(
                f"einsum(): subscript {c} is repeated for operand {operand} but the sizes don't match, {size} != {first}"
            )


def _check_sizes(operands, spelled):
    for k, subscripts in enumerate(spelled):
        if len(set(subscripts)) < len(subscripts):
            _check_repeated(operands[k], subscripts, k)
    sizes = {}
    for k, (tensor, subscripts) in enumerate(zip(operands, spelled)):
        for c, size in zip(subscripts, tensor.shape):
            known = sizes.setdefault(c, size)
            if known != size and 1 not in (known, size):
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {size} for operand {k} which does not broadcast with previously seen "
                    f"size {known}"
                )
            sizes[c] = max(known, size) if 1 in (known, size) else known
    return sizes


def _pair(a, a_letters, b, b_letters, keep, sizes):
    shared = [c for c in a_letters if c in b_letters]
    batch = [c for c in shared if c in keep]
    inner = [c for c in shared if c not in keep]
    left = [c for c in a_letters if c not in b_letters]
    right = [c for c in b_letters if c not in a_letters]

    def arranged(tensor, letters, order):
        places = [letters.index(c) for c in order]
        if places != sorted(places):
            tensor = tensor.permute(places)
        wanted = [sizes[c] for c in order]
        return tensor if list(tensor.shape) == wanted else tensor.expand(wanted)

    def count(letters):
        total = 1
        for c in letters:
            total *= sizes[c]
        return total

    letters = batch + left + right
    if not inner:  # no sum: each dimension of either broadcasts along the other's own
        shape = [1 if c in right else sizes[c] for c in letters], [1 if c in left else sizes[c] for c in letters]
        a, b = arranged(a, a_letters, batch + left), arranged(b, b_letters, batch + right)
        return a.reshape(shape[0]) * b.reshape(shape[1]), "".join(letters)
    a = arranged(a, a_letters, batch + left + inner).reshape(count(batch), count(left), count(inner))
    b = arranged(b, b_letters, batch + inner + right).reshape(count(batch), count(inner), count(right))
    if a.dtype != b.dtype and not (a.is_floating_point() or b.is_floating_point()):  # sums of integers are int64
        a, b = a.to(C.int64), b.to(C.int64)
    return C.bmm(a, b).view([sizes[c] for c in letters]), "".join(letters)


def _from_sublists(arguments):
    """einsum(a, [0, 1], b, [1, 2], [0, 2]): dimensions by number. The equation with letters, and the operands."""

    def letters(numbers):
        return "".join("..." if n is Ellipsis else _letter(n) for n in numbers)

    operands, terms = arguments[0 : len(arguments) // 2 * 2 : 2], arguments[1::2]
    equation = ",".join(map(letters, terms))
    return equation + ("->" + letters(arguments[-1]) if len(arguments) % 2 else ""), operands


def _letter(number):
    if not 0 <= number < 52:
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


def spread(equation, *operands):
    """The arguments of einsum() in the form that all others are brought to: an equation, and each operand on its own."""
    if isinstance(equation, C.Tensor):
        equation, operands = _from_sublists((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    return equation, *operands


def einsum(equation, *operands):
    equation, *operands = spread(equation, *operands)
    spelled, output = parse(equation, operands)
    sizes = _check_sizes(operands, spelled)
    pairs = [_diagonals(t, s) for t, s in zip(operands, spelled)]
    result, letters = _summed(*pairs[0], set(output).union(*[s for _, s in pairs[1:]]))
    for i in range(1, len(pairs)):
        keep = set(output).union(*[s for _, s in pairs[i + 1 :]])
        other, other_letters = _summed(*pairs[i], keep | set(letters))
        result, letters = _pair(result, letters, other, other_letters, keep, sizes)
        result, letters = _summed(result, letters, keep)
    order = [letters.index(c) for c in output]
    return result if len(pairs) > 1 and order == sorted(order) else result.permute(order)
