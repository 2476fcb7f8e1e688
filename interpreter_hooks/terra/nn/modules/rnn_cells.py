"""Cells of recurrent networks: one step of each."""

import math

import _terra_C as C

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """`gates` blocks of hidden_size rows per weight, uniform in +-1/sqrt(hidden_size)."""

    def __init__(self, input_size, hidden_size, bias, gates, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = Parameter(C.empty((gates * hidden_size, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(C.empty((gates * hidden_size, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(C.empty(gates * hidden_size, device=device, dtype=dtype))
            self.bias_hh = Parameter(C.empty(gates * hidden_size, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += ", bias=False"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _check(self, input, *states):
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        for i, state in enumerate(states):
            if state.dim() not in (1, 2):
                which = "hidden" if len(states) == 1 else f"hx[{i}]"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {state.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(-1)} expected {self.input_size}")
        for i, state in enumerate(states):
            if input.dim() == state.dim() == 2 and input.size(0) != state.size(0):
                raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {state.size(0)}")
            if state.size(-1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {state.size(-1)}, expected {self.hidden_size}"
                )

    def _zeros(self, input):
        return C.zeros((*input.shape[:-1], self.hidden_size), device=input.device, dtype=input.dtype)


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu."""

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if hx is None:
            hx = self._zeros(input)
        self._check(input, hx)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        sums = F.linear(input, self.weight_ih, self.bias_ih) + F.linear(hx, self.weight_hh, self.bias_hh)
        return C.tanh(sums) if self.nonlinearity == "tanh" else C.relu(sums)


class LSTMCell(RNNCellBase):
    """Gates i, f, g, o: c' = f c + i g, h' = o tanh(c')."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        if hx is None:
            hx = (self._zeros(input), self._zeros(input))
        h, c = hx
        self._check(input, h, c)
        sums = F.linear(input, self.weight_ih, self.bias_ih) + F.linear(h, self.weight_hh, self.bias_hh)
        i, f, g, o = C.chunk(sums, 4, -1)
        c = C.sigmoid(f) * c + C.sigmoid(i) * C.tanh(g)
        return C.sigmoid(o) * C.tanh(c), c


class GRUCell(RNNCellBase):
    """Gates r, z, n: h' = (1 - z) n + z h with n = tanh(W_in x + b_in + r (W_hn h + b_hn))."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        if hx is None:
            hx = self._zeros(input)
        self._check(input, hx)
        x_r, x_z, x_n = C.chunk(F.linear(input, self.weight_ih, self.bias_ih), 3, -1)
        h_r, h_z, h_n = C.chunk(F.linear(hx, self.weight_hh, self.bias_hh), 3, -1)
        r = C.sigmoid(x_r + h_r)
        z = C.sigmoid(x_z + h_z)
        n = C.tanh(x_n + r * h_n)
        return n + z * (hx - n)
