"""Recurrent networks over whole sequences: RNN, LSTM and GRU, in several layers and both directions."""

import math
import numbers
import warnings

import _terra_C as C

from ..._dtypes import HALVES
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module
from .rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]


def _check_settings(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    if not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (
        ("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
    ):  # fmt: skip
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def apply_permutation(tensor, permutation, dim=1):
    """Sequences in another order: of their states, dimension 1 is that of the batch."""
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Layers over layers, each with one pass over the sequence per direction.

    A subclass says how many blocks of hidden_size rows its weights have (`gates`), how many tensors its state is, hidden
    state first (`states`), and what one step is: `_step(sums, state, weight_hh, bias_hh, weight_hr)`, where `sums` are
    the step's inputs times weight_ih plus bias_ih, computed for all steps at once."""

    gates = 1
    states = 1

    def __init__(
        self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, proj_size=0, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        _check_settings(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = []
        rows, width, directions = self.gates * hidden_size, proj_size or hidden_size, 1 + bool(bidirectional)
        for layer in range(num_layers):
            shapes = {"weight_ih": (rows, width * directions if layer else input_size), "weight_hh": (rows, width)}
            if bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for suffix in ("", "_reverse")[:directions]:
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
                for name, shape in zip(self._all_weights[-1], shapes.values()):
                    setattr(self, name, Parameter(C.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    @property
    def all_weights(self):
        """The parameters by layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        """Nothing to do: the weights are used where they are."""

    def extra_repr(self):
        plain = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        settings = [f"{name}={getattr(self, name)}" for name, value in plain.items() if getattr(self, name) != value]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *settings])

    def forward(self, input, hx=None):
        name = type(self).__name__
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if not isinstance(input, C.Tensor):
            raise TypeError(f"{name}: input must be a Tensor or a PackedSequence, not {type(input).__name__}")
        if input.dim() not in (2, 3):
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        if self.batch_first:
            input = input.transpose(0, 1)
        state = self._initial_state(input, batched, hx)
        output, last = self._run(input, state)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output = output.squeeze(0 if self.batch_first else 1)
            last = tuple(part.squeeze(1) for part in last)
        return output, last[0] if self.states == 1 else last

    def _forward_packed(self, packed, hx):
        """Sequences of different lengths, longest first: each step takes as many as are still running."""
        counts = packed.batch_sizes.tolist()
        order, back = packed.sorted_indices, packed.unsorted_indices
        if hx is not None and order is not None:
            hx = hx.index_select(1, order) if self.states == 1 else tuple(part.index_select(1, order) for part in hx)
        state = self._initial_state(packed.data[: counts[0]].unsqueeze(0), True, hx)
        output, last = self._run(packed.data, state, counts)
        if back is not None:
            last = tuple(part.index_select(1, back) for part in last)
        output = PackedSequence(output, packed.batch_sizes, order, back)
        return output, last[0] if self.states == 1 else last

    def _initial_state(self, input, batched, hx):
        """One tensor of (layers * directions, batch, width) for each part of the state, checked."""
        weight = getattr(self, self._all_weights[0][0])
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        if input.size(0) == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        rows = len(self._all_weights)
        shapes = [(rows, input.size(1), width) for width in (self.proj_size or self.hidden_size, self.hidden_size)]
        if hx is None:
            return tuple(C.zeros(shape, device=input.device, dtype=input.dtype) for shape in shapes[: self.states])
        given = (hx,) if self.states == 1 else tuple(hx)
        if any(part.dim() != 2 + batched for part in given):
            what, kind = ("hx", "tensor") if self.states == 1 else ("hx and cx", "tensors")
            got = f"{given[0].dim()}-D" if self.states == 1 else f"({', '.join(f'{part.dim()}-D' for part in given)})"
            dims = f"{'batched 3' if batched else 'unbatched 2'}-D input, {what} should also be {2 + batched}-D"
            raise RuntimeError(f"For {dims} but got {got} {kind}")
        if not batched:
            given = tuple(part.unsqueeze(1) for part in given)
        for i, (part, shape) in enumerate(zip(given, shapes)):
            if tuple(part.shape) != shape:
                which = "hidden size" if self.states == 1 else f"hidden[{i}] size"
                raise RuntimeError(f"Expected {which} {shape}, got {list(part.shape)}")
        return given

    def _run(self, x, state, counts=None):
        directions = 1 + bool(self.bidirectional)
        last = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(directions):
                row = layer * directions + direction
                start, weights = tuple(part[row] for part in state), self.all_weights[row]
                if counts is None:
                    output, end = self._pass(x, start, weights, direction == 1)
                else:
                    output, end = self._pass_packed(x, start, weights, direction == 1, counts)
                outputs.append(output)
                last.append(end)
            x = C.cat(outputs, -1) if len(outputs) > 1 else outputs[0]
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        return x, tuple(C.stack(parts) for parts in zip(*last))

    def _parts(self, weights):
        """(weight_ih, weight_hh, bias_ih, bias_hh, weight_hr) of a layer, None for those that it lacks."""
        weight_ih, weight_hh, *rest = weights
        bias_ih, bias_hh = rest[:2] if self.bias else (None, None)
        return weight_ih, weight_hh, bias_ih, bias_hh, (rest[-1] if self.proj_size else None)

    def _pass_packed(self, x, start, weights, backwards, counts):
        """One layer in one direction over packed rows: states leave as their sequences end, or come in as they begin."""
        weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = self._parts(weights)
        steps = F.linear(x, weight_ih, bias_ih).split(counts)
        outputs, ended = [], []
        state = tuple(part[: counts[-1 if backwards else 0]] for part in start)
        for step in reversed(range(len(counts))) if backwards else range(len(counts)):
            running, count = state[0].size(0), counts[step]
            if count < running:
                ended.append(tuple(part[count:] for part in state))
                state = tuple(part[:count] for part in state)
            elif count > running:
                state = tuple(C.cat([part, first[running:count]]) for part, first in zip(state, start))
            state = self._step(steps[step], state, weight_hh, bias_hh, weight_hr)
            outputs.append(state[0])
        if backwards:
            outputs.reverse()
        return C.cat(outputs), tuple(C.cat(parts) for parts in zip(state, *reversed(ended)))

    def _pass(self, x, state, weights, backwards):
        """One layer in one direction: its outputs, in the order of the sequence, and its last state."""
        weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = self._parts(weights)
        steps = F.linear(x, weight_ih, bias_ih).unbind(0)
        outputs = []
        for sums in reversed(steps) if backwards else steps:
            state = self._step(sums, state, weight_hh, bias_hh, weight_hr)
            outputs.append(state[0])
        if backwards:
            outputs.reverse()
        return C.stack(outputs), state


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu."""

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity

    def _step(self, sums, state, weight_hh, bias_hh, weight_hr):
        sums = sums + F.linear(state[0], weight_hh, bias_hh)
        return (C.tanh(sums) if self.nonlinearity == "tanh" else C.relu(sums),)


class LSTM(RNNBase):
    """Gates i, f, g, o: c' = f c + i g, h' = o tanh(c'), projected by W_hr where there is one."""

    gates = 4
    states = 2

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def _run(self, x, state, counts=None):
        if counts is None and not self.proj_size:
            x, *state = C._in_lower(x, *state)
        return super()._run(x, state, counts)

    def _pass(self, x, state, weights, backwards):
        weight_ih, weight_hh, bias_ih, bias_hh, weight_hr = self._parts(weights)
        if weight_hr is not None or any(t.dtype != x.dtype for t in (weight_ih, *state)) or x.dtype in HALVES:
            return super()._pass(x, state, weights, backwards)
        bias = None if bias_ih is None else bias_ih + bias_hh
        output, cells, _ = C._ops.lstm_layer(F.linear(x, weight_ih, bias), weight_hh, *state, backwards)
        last = 0 if backwards else -1
        return output, (output[last], cells[last])

    def _step(self, sums, state, weight_hh, bias_hh, weight_hr):
        h, c = state
        i, f, g, o = C.chunk(sums + F.linear(h, weight_hh, bias_hh), 4, -1)
        c = C.sigmoid(f) * c + C.sigmoid(i) * C.tanh(g)
        h = C.sigmoid(o) * C.tanh(c)
        return (h if weight_hr is None else F.linear(h, weight_hr)), c


class GRU(RNNBase):
    """Gates r, z, n: h' = (1 - z) n + z h with n = tanh(W_in x + b_in + r (W_hn h + b_hn))."""

    gates = 3

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def _step(self, sums, state, weight_hh, bias_hh, weight_hr):
        (h,) = state
        x_r, x_z, x_n = C.chunk(sums, 3, -1)
        h_r, h_z, h_n = C.chunk(F.linear(h, weight_hh, bias_hh), 3, -1)
        r = C.sigmoid(x_r + h_r)
        z = C.sigmoid(x_z + h_z)
        n = C.tanh(x_n + r * h_n)
        return (n + z * (h - n),)
