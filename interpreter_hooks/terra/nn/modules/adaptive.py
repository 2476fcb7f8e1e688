"""A softmax over very many classes, the rarer ones behind smaller layers."""

from collections import namedtuple

import _terra_C as C

from .. import functional as F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Classes are numbered from frequent to rare. The head knows those below the first cutoff and one entry for each
    further cluster, whose classes have a tail with a projection div_value times narrower than the one before."""

    def __init__(
        self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None
    ):
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        increasing = all(a < b for a, b in zip(cutoffs, cutoffs[1:]))
        if not increasing or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        super().__init__()
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            narrow = int(in_features // div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            projection = Linear(in_features, narrow, bias=False, device=device, dtype=dtype)
            self.tail.append(Sequential(projection, Linear(narrow, classes, bias=False, device=device, dtype=dtype)))

    def reset_parameters(self):
        self.head.reset_parameters()
        for projection, output in self.tail:
            projection.reset_parameters()
            output.reset_parameters()

    def forward(self, input, target):
        """(log-probability of each target, the mean loss)"""
        if target.dim() not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.dim() == 1 and input.size(0) != target.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target.dim() == 1 and input.dim() != 2:
            raise RuntimeError(f"1D target tensor expects 2D input tensors, but found inputs with size {input.size()}")
        if target.dim() == 0 and input.dim() != 1:
            raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input.size()}")
        if target.dim() == 0:
            output, loss = self._of_batch(input.unsqueeze(0), target.unsqueeze(0))
            return _ASMoutput(output.squeeze(0), loss)
        return _ASMoutput(*self._of_batch(input, target))

    def _of_batch(self, input, target):
        if target.numel() > 0:
            least, most = int(target.min()), int(target.max())
            if least < 0 or most >= self.n_classes:
                raise RuntimeError(
                    f"Target values should be in [0, {self.n_classes - 1}], but values in range [{least}, {most}] "
                    "were found. "
                )
        entry = target  # of the head: the class itself, or its cluster
        tails = C.zeros(target.shape, device=input.device, dtype=input.dtype)
        for i, low in enumerate(self.cutoffs[:-1]):
            rows = ((target >= low) & (target < self.cutoffs[i + 1])).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            log_probs = F.log_softmax(self.tail[i](input.index_select(0, rows)), 1)
            own = log_probs.gather(1, (target[rows] - low).unsqueeze(1)).squeeze(1)
            entry = entry.index_fill(0, rows, self.shortlist_size + i)
            tails = tails.index_add(0, rows, own.to(tails.dtype))
        head = F.log_softmax(self.head(input), 1)
        output = head.gather(1, entry.unsqueeze(1)).squeeze(1) + tails
        return output, (-output).mean()

    def log_prob(self, input):
        """Log-probabilities of all classes."""
        return self._all(input, self.head(input))

    def _all(self, input, head_output):
        head = F.log_softmax(head_output, 1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), 1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return C.cat(parts, 1)

    def predict(self, input):
        """The likeliest class of each row; the tails are asked only for rows whose head says so."""
        head_output = self.head(input)
        output = head_output.argmax(1)
        rare = output >= self.shortlist_size
        if not bool(rare.any()):
            return output
        rows = rare.nonzero().squeeze(1)
        best = self._all(input.index_select(0, rows), head_output.index_select(0, rows)).argmax(1)
        return output.index_put((rows,), best)
