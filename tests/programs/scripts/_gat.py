"""Graph attention on a citation-like graph given by its adjacency matrix: multi-head attention, early stopping."""

import argparse
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def accuracy(output, labels):
    predicted = output.max(1)[1].type_as(labels)
    correct = predicted.eq(labels).double()
    return correct.sum() / len(labels)


def normalize(features):
    """Rows sum to one."""
    total = np.array(features.sum(1))
    inverse = np.power(total, -1.0, where=total > 0, out=np.zeros_like(total))
    return np.diag(inverse).dot(features)


def load_data(nodes=90, classes=3, words=20):
    """A graph whose neighbours are mostly of one class, words that hint at the class."""
    random = np.random.RandomState(7)
    labels = np.arange(nodes) % classes
    same = labels[:, None] == labels[None, :]
    edges = random.rand(nodes, nodes) < np.where(same, 0.15, 0.01)
    adjacency = np.maximum(edges, edges.T).astype(np.float32) + np.eye(nodes, dtype=np.float32)
    adjacency = (adjacency > 0).astype(np.float32)
    topics = random.rand(classes, words) ** 3
    features = (random.rand(nodes, words) < 0.05 + 0.7 * topics[labels]).astype(np.float32)
    order = random.permutation(nodes)
    masks = [torch.from_numpy(order[a:b]).long() for a, b in ((0, 30), (30, 55), (55, nodes))]
    return torch.FloatTensor(adjacency), torch.FloatTensor(normalize(features)), torch.LongTensor(labels), masks


class GraphAttentionLayer(nn.Module):
    def __init__(self, in_features, out_features, dropout, alpha, concat=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.dropout, self.concat = dropout, concat
        self.W = nn.Parameter(torch.empty(size=(in_features, out_features)))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        self.a = nn.Parameter(torch.empty(size=(2 * out_features, 1)))
        nn.init.xavier_uniform_(self.a.data, gain=1.414)
        self.leakyrelu = nn.LeakyReLU(alpha)

    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        left = torch.matmul(Wh, self.a[: self.out_features, :])
        right = torch.matmul(Wh, self.a[self.out_features :, :])
        e = self.leakyrelu(left + right.T)
        attention = torch.where(adj > 0, e, -9e15 * torch.ones_like(e))
        attention = F.dropout(F.softmax(attention, dim=1), self.dropout, training=self.training)
        out = torch.matmul(attention, Wh)
        return F.elu(out) if self.concat else out

    def __repr__(self):
        return f"{self.__class__.__name__} ({self.in_features} -> {self.out_features})"


class GAT(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout, alpha, nheads):
        super().__init__()
        self.dropout = dropout
        self.attentions = [GraphAttentionLayer(nfeat, nhid, dropout, alpha) for _ in range(nheads)]
        for i, attention in enumerate(self.attentions):
            self.add_module("attention_{}".format(i), attention)
        self.out_att = GraphAttentionLayer(nhid * nheads, nclass, dropout, alpha, concat=False)

    def forward(self, x, adj):
        x = F.dropout(x, self.dropout, training=self.training)
        x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(F.elu(self.out_att(x, adj)), dim=1)


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=40)
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--weight_decay", type=float, default=5e-4)
parser.add_argument("--hidden", type=int, default=4)
parser.add_argument("--nb_heads", type=int, default=3)
parser.add_argument("--dropout", type=float, default=0.3)
parser.add_argument("--alpha", type=float, default=0.2)
parser.add_argument("--patience", type=int, default=10)
parser.add_argument("--no-cuda", action="store_true", default=False)
args = parser.parse_args()
args.cuda = not args.no_cuda and False

torch.manual_seed(72)
adj, features, labels, (idx_train, idx_val, idx_test) = load_data()
model = GAT(features.shape[1], args.hidden, int(labels.max()) + 1, args.dropout, args.alpha, args.nb_heads)
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
if args.cuda:
    model.cuda()


def train(epoch):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    model.eval()
    output = model(features, adj)
    loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    if epoch % 5 == 0:
        print("Epoch: {:04d}".format(epoch + 1), "loss_train: {:.4f}".format(loss_train.data.item()),
              "acc_train: {:.4f}".format(accuracy(output[idx_train], labels[idx_train]).item()),
              "loss_val: {:.4f}".format(loss_val.data.item()))  # fmt: skip
    return loss_val.data.item()


best, best_epoch, waited, best_state = float("inf"), 0, 0, None
for epoch in range(args.epochs):
    loss = train(epoch)
    if loss < best - 1e-4:
        best, best_epoch, waited = loss, epoch, 0
        best_state = copy.deepcopy(model.state_dict())
    else:
        waited += 1
    if waited == args.patience:
        break
print("Loading {}th epoch".format(best_epoch))
model.load_state_dict(best_state)
model.eval()
output = model(features, adj)
print("Test set results:", "loss= {:.4f}".format(F.nll_loss(output[idx_test], labels[idx_test]).item()),
      "accuracy= {:.4f}".format(accuracy(output[idx_test], labels[idx_test]).item()))  # fmt: skip
