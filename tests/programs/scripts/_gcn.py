"""Graph convolutions over a sparse adjacency matrix, as in pygcn: communities found from few labels; then attention
over edges, whose weights are the values of a sparse matrix."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parameter import Parameter

torch.manual_seed(4)
np.random.seed(4)
NODES, CLASSES, FEATURES = 90, 3, 12


def communities():
    labels = np.arange(NODES) % CLASSES
    same = labels[:, None] == labels[None, :]
    edges = np.triu(np.random.rand(NODES, NODES) < np.where(same, 0.16, 0.02), 1)
    rows, columns = np.nonzero(edges + edges.T + np.eye(NODES, dtype=bool))
    features = np.random.randn(NODES, FEATURES) + 0.4 * np.eye(CLASSES)[labels] @ np.random.randn(CLASSES, FEATURES)
    return rows, columns, features, labels


def normalize(rows, columns):
    degree = np.bincount(rows, minlength=NODES).astype(np.float32)
    values = 1 / np.sqrt(degree[rows] * degree[columns])
    indices = torch.from_numpy(np.vstack((rows, columns)).astype(np.int64))
    return torch.sparse.FloatTensor(indices, torch.from_numpy(values), torch.Size((NODES, NODES)))


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = Parameter(torch.empty(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.empty(out_features))
        else:
            self.register_parameter("bias", None)
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        for parameter in self.parameters():
            parameter.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        return output + self.bias if self.bias is not None else output


class GCN(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.gc1 = GraphConvolution(FEATURES, hidden)
        self.gc2 = GraphConvolution(hidden, CLASSES, bias=False)
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, 0.3, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(FEATURES, 8)
        self.score = nn.Linear(16, 1)
        self.out = nn.Linear(8, CLASSES)

    def forward(self, x, adj):
        h = self.project(x)
        source, target = adj._indices()
        score = F.leaky_relu(self.score(torch.cat([h[source], h[target]], 1))).squeeze(1)
        weights = torch.sparse.softmax(torch.sparse_coo_tensor(adj._indices(), score, adj.shape), dim=1)
        return F.log_softmax(self.out(F.elu(torch.sparse.mm(weights, h))), dim=1)


rows, columns, features, labels = communities()
adj = normalize(rows, columns)
x, y = torch.FloatTensor(features), torch.LongTensor(labels)
train, test = torch.arange(0, 30), torch.arange(30, NODES)
print(adj._nnz(), adj.is_sparse, tuple(adj.shape), f"{torch.sparse.sum(adj).item():.4f}")
print("row sums", " ".join(f"{v:.3f}" for v in torch.sparse.sum(adj, dim=1).to_dense()[:6].tolist()))


def accuracy(output, where):
    return (output[where].max(1)[1] == y[where]).double().mean().item()


def fit(model, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=5e-4)
    for epoch in range(epochs):
        model.train()
        optimizer.zero_grad()
        loss = F.nll_loss(model(x, adj)[train], y[train])
        loss.backward()
        optimizer.step()
        if epoch % 10 == 9:
            model.eval()
            with torch.no_grad():
                output = model(x, adj)
            print(type(model).__name__, epoch, f"{loss.item():.4f} {accuracy(output, test):.3f}")


fit(GCN(16), 60, 0.02)
fit(Attention(), 40, 0.02)
two = torch.sparse.mm(adj, adj).coalesce()
print("two steps", two._nnz(), f"{two.values().sum().item():.4f}")
both, same = (adj + adj.t()).to_dense(), (adj * 2 - adj).coalesce().values()
print("with transpose", f"{both.sum().item():.4f}", f"{same.max().item():.4f}")
