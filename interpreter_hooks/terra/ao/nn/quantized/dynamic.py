"""Layers with quantized weights, which quantize what they are given by its own range, and give numbers."""

import _terra_C as C

from ...._names import lazily
from ...._quantized import ops
from .... import nn
from ....nn import Module
from .. import quantized
from . import quantized_weight

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "Linear", "RNNCell"]


def _observed_weight(mod, weight):
    """A weight of the module as its qconfig has it quantized."""
    if not getattr(mod, "qconfig", None):
        raise AssertionError("Input float module must have qconfig defined")
    observer = mod.qconfig.weight()
    if observer.dtype != C.qint8:
        raise NotImplementedError(f"dynamic layers with weights of {observer.dtype} are not in Terra yet: torch.qint8 is")
    observer(weight)
    return quantized_weight(weight.float(), observer)


class Linear(quantized.Linear):
    """Of numbers."""

    def _get_name(self):
        return "DynamicQuantizedLinear"

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}, "
            f"qscheme={self.weight().qscheme()}"
        )

    def forward(self, x):
        return ops.linear_dynamic(x, self.weight(), self.bias()).to(x.dtype)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        layer = mod[0] if isinstance(mod, quantized._FusedModule) else mod
        made = cls(layer.in_features, layer.out_features)
        made.set_weight_bias(_observed_weight(mod, layer.weight), layer.bias)
        return made


def _lstm(gates, gates_h, state):
    hidden, cell = state
    i, f, g, o = (gates + gates_h).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(gates, gates_h, state):
    (hidden,) = state
    (r, z, n), (r_h, z_h, n_h) = gates.chunk(3, 1), gates_h.chunk(3, 1)
    z = (z + z_h).sigmoid()
    n = (n + (r + r_h).sigmoid() * n_h).tanh()
    return ((hidden - n) * z + n,)


def _rnn(activation):
    return lambda gates, gates_h, state: (activation(gates + gates_h),)


class _Weights(Module):
    """The weights of one direction of a layer, for the input and for the state."""

    def __init__(self, input, hidden):
        super().__init__()
        self.input, self.hidden = input, hidden

    def gates_of_input(self, x):
        return ops.linear_dynamic(x, *self.input)

    def gates_of_state(self, h):
        return ops.linear_dynamic(h, *self.hidden)


def _weights(mod, suffix=""):
    pair = [
        (_observed_weight(mod, getattr(mod, f"weight_{side}{suffix}")), getattr(mod, f"bias_{side}{suffix}", None))
        for side in ("ih", "hh")
    ]
    return _Weights(*pair)


class _Named(Module):
    """Says of itself what the layer did that it stands for."""

    def _get_name(self):
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self):
        return self._extra_repr

    def __repr__(self):
        return f"{self._get_name()}({self.extra_repr()})"


class _Recurrent(_Named):
    """A stack of layers, in one direction or both."""

    def __init__(self, like, weights):
        super().__init__()
        for name in ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional"):
            setattr(self, name, getattr(like, name))
        self._extra_repr = like.extra_repr()
        self._all_weight_values = nn.ModuleList(weights)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        directions = ("", "_reverse") if mod.bidirectional else ("",)
        return cls(mod, [_weights(mod, f"_l{layer}{d}") for layer in range(mod.num_layers) for d in directions])

    def _run(self, steps, weights, state, reversed_):
        gates = weights.gates_of_input(steps)
        found = [None] * steps.shape[0]
        for t in range(steps.shape[0] - 1, -1, -1) if reversed_ else range(steps.shape[0]):
            state = self._cell(gates[t], weights.gates_of_state(state[0]), state)
            found[t] = state[0]
        return C.stack(found), state

    def forward(self, input, hx=None):
        if isinstance(input, nn.utils.rnn.PackedSequence):
            raise NotImplementedError(f"{self._get_name()}: packed sequences are not in Terra yet")
        single = input.dim() == 2
        steps = input.unsqueeze(1) if single else input.transpose(0, 1) if self.batch_first else input
        count, directions = len(self._all_weight_values), 2 if self.bidirectional else 1
        if hx is None:
            states = [C.zeros(count, steps.shape[1], self.hidden_size, dtype=input.dtype)] * self._states
        else:
            states = list(hx) if isinstance(hx, (tuple, list)) else [hx]
            states = [state.unsqueeze(1) for state in states] if single else states
        last = []
        for layer in range(self.num_layers):
            outputs = []
            for d in range(directions):
                place = layer * directions + d
                output, state = self._run(steps, self._all_weight_values[place], [s[place] for s in states], d == 1)
                outputs.append(output)
                last.append(state)
            steps = C.cat(outputs, -1) if directions == 2 else outputs[0]
        states = [C.stack(parts) for parts in zip(*last)]
        if single:
            steps, states = steps.squeeze(1), [state.squeeze(1) for state in states]
        elif self.batch_first:
            steps = steps.transpose(0, 1)
        return steps, tuple(states) if self._states == 2 else states[0]


class LSTM(_Recurrent):
    """With quantized weights."""

    _states, _cell = 2, staticmethod(_lstm)


class GRU(_Recurrent):
    """With quantized weights."""

    _states, _cell = 1, staticmethod(_gru)


class _Cell(_Named):
    """One step."""

    def __init__(self, like, weights):
        super().__init__()
        self.input_size, self.hidden_size, self.weights, self._extra_repr = (
            like.input_size,
            like.hidden_size,
            weights,
            like.extra_repr(),
        )

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        made = cls(mod, _weights(mod))
        if cls is RNNCell:
            made._cell = _rnn(C.tanh if mod.nonlinearity == "tanh" else C.relu)
        return made

    def forward(self, input, hx=None):
        if hx is None:
            hx = (C.zeros(input.size(0), self.hidden_size, dtype=input.dtype),) * self._states
        state = hx if isinstance(hx, tuple) else (hx,)
        found = self._cell(self.weights.gates_of_input(input), self.weights.gates_of_state(state[0]), state)
        return found if self._states == 2 else found[0]


class LSTMCell(_Cell):
    """With quantized weights."""

    _states, _cell = 2, staticmethod(_lstm)


class GRUCell(_Cell):
    """With quantized weights."""

    _states, _cell = 1, staticmethod(_gru)


class RNNCell(_Cell):
    """With quantized weights."""

    _states = 1


__getattr__ = lazily(__name__)
