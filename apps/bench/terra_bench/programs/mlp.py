"""A small network, where Python and dispatch are most of a step: 4-64-64-2, batch 32, Adam."""

from .batches import in_turn


def build(torch):
    nn, F = torch.nn, torch.nn.functional
    net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    batches = [(torch.randn(32, 4), torch.randint(2, (32,))) for _ in range(8)]

    def train_step(x, y):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    return in_turn(train_step, batches)
