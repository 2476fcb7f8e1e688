"""Recurrent networks as functions of their weights: what PyTorch's own modules call (torch._VF.lstm)."""

from .nn.modules.module import Module
from .nn.modules.rnn import GRU, LSTM, RNN


def _over(kind, nonlinearity=None):
    """A network of that kind over weights that it is given."""

    class Called(kind):
        all_weights = ()

        def __init__(self, hx, weights, bias, num_layers, dropout, train, bidirectional):
            Module.__init__(self)
            states = hx if self.states == 2 else (hx,)
            self.proj_size = states[0].size(-1) if self.states == 2 and states[0].size(-1) != states[1].size(-1) else 0
            each = 2 + 2 * bool(bias) + bool(self.proj_size)
            self.all_weights = [weights[i : i + each] for i in range(0, len(weights), each)]
            self.bias, self.num_layers, self.dropout, self.bidirectional = bias, num_layers, dropout, bidirectional
            self.nonlinearity = nonlinearity
            self.train(train)

    def function(input, *rest):
        """(input, hx, weights, bias, num_layers, dropout, train, bidirectional, batch_first), or for packed rows
        (data, batch_sizes, hx, weights, bias, num_layers, dropout, train, bidirectional): outputs and the last state."""
        if isinstance(rest[2], (list, tuple)):
            counts, (hx, weights, *settings) = rest[0].tolist(), rest[1:]
            batch_first = False
        else:
            counts, (hx, weights, *settings, batch_first) = None, rest
        network = Called(hx, list(weights), *settings)
        x = input.transpose(0, 1) if batch_first else input
        output, last = network._run(x, tuple(hx) if network.states == 2 else (hx,), counts)
        return (output.transpose(0, 1) if batch_first else output, *last)

    return function


lstm, gru, rnn_tanh, rnn_relu = _over(LSTM), _over(GRU), _over(RNN, "tanh"), _over(RNN, "relu")
