"""Graph classification: batches of graphs as one edge list, messages by scatter, isomorphism layers, top-k pooling."""

from dataclasses import dataclass
from itertools import accumulate

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader


@dataclass
class Graph:
    x: torch.Tensor
    edge_index: torch.Tensor
    y: int

    @property
    def num_nodes(self):
        return self.x.size(0)


@dataclass
class Batch:
    x: torch.Tensor
    edge_index: torch.Tensor
    y: torch.Tensor
    batch: torch.Tensor

    @classmethod
    def from_graphs(cls, graphs):
        offsets = [0, *accumulate(g.num_nodes for g in graphs)]
        edges = torch.cat([g.edge_index + offset for g, offset in zip(graphs, offsets)], dim=1)
        batch = torch.repeat_interleave(torch.arange(len(graphs)), torch.tensor([g.num_nodes for g in graphs]))
        return cls(torch.cat([g.x for g in graphs]), edges, torch.tensor([g.y for g in graphs]), batch)


def make_graph(rng):
    """Rings with a few chords are class 1, trees class 0; features are degrees and noise."""
    n = int(torch.randint(5, 10, (1,), generator=rng))
    label = int(torch.randint(0, 2, (1,), generator=rng))
    if label:
        edges = [(i, (i + 1) % n) for i in range(n)]
        edges += [tuple(torch.randperm(n, generator=rng)[:2].tolist()) for _ in range(n // 4)]
    else:
        edges = [(i, int(torch.randint(0, i, (1,), generator=rng))) for i in range(1, n)]
    edges = torch.tensor(sorted({(a, b) for a, b in edges} | {(b, a) for a, b in edges})).t().contiguous()
    degree = torch.zeros(n).scatter_add_(0, edges[0], torch.ones(edges.size(1)))
    return Graph(torch.stack([degree, torch.randn(n, generator=rng)], 1), edges, label)


def scatter(values, index, size, reduce="sum"):
    shape = (size, *values.shape[1:])
    if reduce == "max":
        index = index.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
        return torch.full(shape, float("-inf")).scatter_reduce(0, index, values, "amax", include_self=True)
    total = torch.zeros(shape).index_add_(0, index, values)
    if reduce == "mean":
        count = torch.bincount(index, minlength=size).clamp(min=1)
        return total / count.view(-1, *[1] * (values.dim() - 1))
    return total


class GINConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(()))
        self.mlp = nn.Sequential(
            nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU(), nn.Linear(outputs, outputs)
        )

    def forward(self, x, edge_index):
        source, target = edge_index
        return self.mlp((1 + self.eps) * x + scatter(x[source], target, x.size(0)))


class TopKPooling(nn.Module):
    """Keeps the best share of each graph's nodes, and the edges between them."""

    def __init__(self, width, ratio=0.7):
        super().__init__()
        self.weight, self.ratio = nn.Parameter(torch.empty(1, width)), ratio
        nn.init.uniform_(self.weight, -1, 1)

    def forward(self, x, edge_index, batch, graphs):
        score = torch.tanh((x * self.weight).sum(dim=-1) / self.weight.norm(p=2, dim=-1))
        order = torch.argsort(score.detach() - 4.0 * batch, descending=True, stable=True)
        count = torch.bincount(batch, minlength=graphs)
        start = torch.cat([count.new_zeros(1), count.cumsum(0)[:-1]])
        kept = (self.ratio * count.float()).ceil().long()
        rank = torch.arange(len(order)) - start[batch[order]]
        perm = order[rank < kept[batch[order]]]
        renumbered = torch.full((x.size(0),), -1, dtype=torch.long)
        renumbered[perm] = torch.arange(perm.size(0))
        edges = renumbered[edge_index]
        return x[perm] * score[perm].view(-1, 1), edges[:, (edges >= 0).all(dim=0)], batch[perm]


class Net(nn.Module):
    def __init__(self, features=2, hidden=16, classes=2):
        super().__init__()
        self.convs = nn.ModuleList([GINConv(features, hidden), GINConv(hidden, hidden)])
        self.pools = nn.ModuleList([TopKPooling(hidden) for _ in range(2)])
        self.lin1, self.lin2 = nn.Linear(3 * hidden, hidden), nn.Linear(hidden, classes)

    def forward(self, data):
        x, edge_index, batch, graphs = data.x, data.edge_index, data.batch, len(data.y)
        readout = 0
        for conv, pool in zip(self.convs, self.pools):
            x = F.relu(conv(x, edge_index))
            x, edge_index, batch = pool(x, edge_index, batch, graphs)
            readout = readout + torch.cat([scatter(x, batch, graphs, how) for how in ("max", "mean", "sum")], dim=1)
        x = F.relu(self.lin1(readout))
        x = F.dropout(x, p=0.2, training=self.training)
        return F.log_softmax(self.lin2(x), dim=-1), x.size(0), edge_index.size(1)


def test(model, loader):
    model.eval()
    with torch.no_grad():
        return sum(int((model(data)[0].max(dim=1)[1] == data.y).sum()) for data in loader)


def main():
    torch.manual_seed(40)
    rng = torch.Generator().manual_seed(41)
    graphs = [make_graph(rng) for _ in range(120)]
    train = DataLoader(graphs[:96], batch_size=16, shuffle=True, collate_fn=Batch.from_graphs)
    held_out = DataLoader(graphs[96:], batch_size=24, collate_fn=Batch.from_graphs)
    print("nodes", sum(g.num_nodes for g in graphs), "edges", sum(g.edge_index.size(1) for g in graphs))
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4, eps=1e-5)
    for epoch in range(5):
        model.train()
        total, edges_left = 0.0, 0
        for data in train:
            optimizer.zero_grad()
            output, graphs_in_batch, edges = model(data)
            loss = F.nll_loss(output, data.y)
            loss.backward()
            optimizer.step()
            total += loss.item() * graphs_in_batch
            edges_left += edges
        right = f"{test(model, train)}/96 {test(model, held_out)}/24"
        print(f"Epoch: {epoch:03d}, Loss: {total / 96:.4f}, Edges: {edges_left > 0}, Right: {right}")


if __name__ == "__main__":
    main()
