"""LeNet: conv 1-32-64 (5x5, padding 2), fc 3136-512-10, batch 64, SGD with momentum."""

from .batches import in_turn


def build(torch):
    nn, F = torch.nn, torch.nn.functional
    net = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10),
    )  # fmt: skip
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    batches = [(torch.randn(64, 1, 28, 28), torch.randint(10, (64,))) for _ in range(4)]

    def train_step(x, y):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    return in_turn(train_step, batches)
