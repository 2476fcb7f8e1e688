"""A pointer network that learns tours by policy gradients: glimpses, masked logits, a greedy rollout as baseline."""

import copy
import math
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class State(NamedTuple):
    """What is known of a tour while it is made; immutable, as the environments of such repositories are."""

    loc: torch.Tensor
    first: torch.Tensor
    prev: torch.Tensor
    visited: torch.Tensor
    lengths: torch.Tensor
    i: int

    @staticmethod
    def initialize(loc):
        batch, n, _ = loc.size()
        start = torch.zeros(batch, 1, dtype=torch.long)
        return State(loc, start, start, torch.zeros(batch, n, dtype=torch.bool), torch.zeros(batch), 0)

    def update(self, selected):
        prev = selected[:, None]
        here = self.loc.gather(1, prev[..., None].expand(-1, -1, 2))
        before = self.loc.gather(1, self.prev[..., None].expand(-1, -1, 2))
        step = (here - before).norm(p=2, dim=-1).squeeze(1) if self.i > 0 else torch.zeros(len(prev))
        return self._replace(
            first=prev if self.i == 0 else self.first, prev=prev, visited=self.visited.scatter(1, prev, True),
            lengths=self.lengths + step, i=self.i + 1,
        )  # fmt: skip

    def all_finished(self):
        return self.i >= self.loc.size(-2)

    def final_cost(self):
        ends = (self.loc.gather(1, index[..., None].expand(-1, -1, 2)) for index in (self.first, self.prev))
        first, last = ends
        return self.lengths + (first - last).norm(p=2, dim=-1).squeeze(1)


class Attention(nn.Module):
    def __init__(self, dim, use_tanh=False, C=8.0):
        super().__init__()
        self.use_tanh, self.C = use_tanh, C
        self.project_query, self.project_ref = nn.Linear(dim, dim), nn.Conv1d(dim, dim, 1, 1)
        self.v = nn.Parameter(torch.FloatTensor(dim))
        self.v.data.uniform_(-(1.0 / math.sqrt(dim)), 1.0 / math.sqrt(dim))

    def forward(self, query, ref):
        """query [batch, dim], ref [place, batch, dim]."""
        ref = self.project_ref(ref.permute(1, 2, 0))
        expanded_q = self.project_query(query).unsqueeze(2).repeat(1, 1, ref.size(2))
        v_view = self.v.unsqueeze(0).expand(expanded_q.size(0), len(self.v)).unsqueeze(1)
        u = torch.bmm(v_view, torch.tanh(expanded_q + ref)).squeeze(1)
        return ref, (self.C * torch.tanh(u) if self.use_tanh else u)


class PointerNetwork(nn.Module):
    def __init__(self, embedding_dim=12, hidden_dim=16, n_glimpses=1):
        super().__init__()
        self.embedding = nn.Linear(2, embedding_dim)
        self.encoder = nn.LSTM(embedding_dim, hidden_dim)
        self.decoder = nn.LSTMCell(embedding_dim, hidden_dim)
        self.pointer, self.glimpse = Attention(hidden_dim, use_tanh=True), Attention(hidden_dim)
        self.n_glimpses = n_glimpses
        self.decoder_in_0 = nn.Parameter(torch.FloatTensor(embedding_dim).uniform_(-0.3, 0.3))
        self.set_decode_type("sampling")

    def set_decode_type(self, kind):
        self.decode_type = kind

    def forward(self, points):
        embedded = self.embedding(points).transpose(0, 1).contiguous()
        context, (h, c) = self.encoder(embedded)
        hidden = h[-1], c[-1]
        state = State.initialize(points)
        decoder_input = self.decoder_in_0.unsqueeze(0).repeat(points.size(0), 1)
        log_likelihood, tour = 0.0, []
        while not state.all_finished():
            hidden = self.decoder(decoder_input, hidden)
            g_l = hidden[0]
            for _ in range(self.n_glimpses):
                ref, logits = self.glimpse(g_l, context)
                logits = logits.masked_fill(state.visited, -math.inf)
                g_l = torch.bmm(ref, F.softmax(logits, dim=1).unsqueeze(2)).squeeze(2)
            _, logits = self.pointer(g_l, context)
            log_p = F.log_softmax(logits.masked_fill(state.visited, -math.inf), dim=1)
            if self.decode_type == "greedy":
                _, selected = log_p.max(1)
            else:
                selected = log_p.exp().multinomial(1).squeeze(1)
            assert not state.visited.gather(1, selected.unsqueeze(-1)).data.any(), "a town was visited twice"
            log_likelihood = log_likelihood + log_p.gather(1, selected.unsqueeze(1)).squeeze(1)
            decoder_input = embedded[selected, torch.arange(len(selected))]
            state = state.update(selected)
            tour.append(selected)
        return state.final_cost(), log_likelihood, torch.stack(tour, 1)


class RolloutBaseline:
    def __init__(self, model):
        self.update(model)

    def update(self, model):
        self.model = copy.deepcopy(model).eval()
        self.model.set_decode_type("greedy")

    @torch.no_grad()
    def __call__(self, points):
        return self.model(points)[0]


def clip_grad_norms(param_groups, max_norm=math.inf):
    grad_norms = [
        nn.utils.clip_grad_norm_(g["params"], max_norm if max_norm > 0 else math.inf, norm_type=2) for g in param_groups
    ]
    return grad_norms, [min(g_norm, max_norm) for g_norm in grad_norms] if max_norm > 0 else grad_norms


def main():
    torch.manual_seed(1234)
    model = PointerNetwork()
    baseline = RolloutBaseline(model)
    test = torch.rand(32, 6, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, eps=1e-5)
    for epoch in range(4):
        model.train()
        model.set_decode_type("sampling")
        for step in range(6):
            points = torch.rand(24, 6, 2)
            cost, log_likelihood, _ = model(points)
            advantage = cost - baseline(points)
            loss = (advantage.detach() * log_likelihood).mean()
            optimizer.zero_grad()
            loss.backward()
            norms, _ = clip_grad_norms(optimizer.param_groups, 1.0)
            optimizer.step()
        model.eval()
        model.set_decode_type("greedy")
        with torch.no_grad():
            length, _, tours = model(test)
        if length.mean() < baseline(test).mean():
            baseline.update(model)
        print(f"epoch {epoch} cost {cost.mean().item():.3f} loss {loss.item():.4f} norm {norms[0].item():.3f} "
              f"test {length.mean().item():.3f} baseline {baseline(test).mean().item():.3f}")  # fmt: skip
    print("tours are permutations:", bool((tours.sort(1).values == torch.arange(6)).all()))


if __name__ == "__main__":
    main()
