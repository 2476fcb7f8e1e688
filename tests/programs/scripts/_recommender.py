"""Matrix factorisation of ratings: users and items are rows of tables with sparse gradients, which SparseAdam moves;
biases move by SGD; a bag of tags describes an item."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
USERS, ITEMS, TAGS, RATINGS = 120, 80, 15, 1500

taste, kind = torch.randn(USERS, 3), torch.randn(ITEMS, 3)
users, items = torch.randint(0, USERS, (RATINGS,)), torch.randint(0, ITEMS, (RATINGS,))
tags = torch.randint(0, TAGS, (ITEMS, 4))
ratings = (taste[users] * kind[items]).sum(1) + 0.1 * torch.randn(RATINGS)
train, test = TensorDataset(users[:1200], items[:1200], ratings[:1200]), (users[1200:], items[1200:], ratings[1200:])


class Factors(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.user = nn.Embedding(USERS, size, sparse=True)
        self.item = nn.Embedding(ITEMS, size, sparse=True)
        self.tag = nn.EmbeddingBag(TAGS, size, mode="mean", sparse=True)
        self.user_bias = nn.Embedding(USERS, 1, sparse=True)
        self.item_bias = nn.Embedding(ITEMS, 1, sparse=True)
        for table in (self.user, self.item, self.tag):
            nn.init.normal_(table.weight, std=0.3)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, u, i):
        item = self.item(i) + self.tag(tags[i])
        return (self.user(u) * item).sum(1) + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1)


model = Factors(6)
tables = torch.optim.SparseAdam([model.user.weight, model.item.weight, model.tag.weight], lr=0.02)
biases = torch.optim.SGD([model.user_bias.weight, model.item_bias.weight], lr=0.1)
error = nn.MSELoss()
loader = DataLoader(train, batch_size=60, shuffle=True)


def step(u, i, r):
    tables.zero_grad()
    biases.zero_grad()
    loss = error(model(u, i), r)
    loss.backward()
    norm = nn.utils.clip_grad_norm_([model.user.weight, model.item.weight], 1.0)
    tables.step()
    biases.step()
    return loss.item(), norm.item()


for epoch in range(8):
    model.train()
    losses = [step(u, i, r) for u, i, r in loader]
    model.eval()
    with torch.no_grad():
        missed = error(model(test[0], test[1]), test[2]).item()
    print(epoch, f"{sum(l for l, _ in losses) / len(losses):.4f} {missed:.4f} {losses[-1][1]:.4f}")
grad = model.user.weight.grad
print(grad.is_sparse, tuple(grad.shape), grad._nnz(), grad.coalesce().indices().shape[1] <= 60)
print(model.tag.weight.grad.layout)
print([state["step"] for state in tables.state_dict()["state"].values()])
try:
    torch.optim.Adam(model.parameters()).step()
except RuntimeError as problem:
    print(problem)
scores = model.user.weight.detach() @ model.item.weight.detach().t()
print("best", scores[:3].topk(2).indices.tolist())
