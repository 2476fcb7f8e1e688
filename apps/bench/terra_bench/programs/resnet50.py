"""ResNet-50, batch 8, images of 224 x 224, SGD with momentum."""

from .batches import in_turn


def make_model(nn, F):
    def conv(inputs, outputs, kernel, stride=1):
        layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        return nn.Sequential(layer, nn.BatchNorm2d(outputs))

    class Block(nn.Module):
        def __init__(self, inputs, middle, stride):
            super().__init__()
            self.body = nn.Sequential(
                conv(inputs, middle, 1), nn.ReLU(), conv(middle, middle, 3, stride), nn.ReLU(), conv(middle, 4 * middle, 1)
            )
            same = stride == 1 and inputs == 4 * middle
            self.short = nn.Identity() if same else conv(inputs, 4 * middle, 1, stride)

        def forward(self, x):
            return F.relu(self.body(x) + self.short(x))

    blocks, inputs = [], 64
    for stage, (middle, count) in enumerate(zip((64, 128, 256, 512), (3, 4, 6, 3))):
        for i in range(count):
            blocks.append(Block(inputs, middle, 2 if stage > 0 and i == 0 else 1))
            inputs = 4 * middle
    return nn.Sequential(
        conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(inputs, 1000),
    )  # fmt: skip


def build(torch):
    nn, F = torch.nn, torch.nn.functional
    net = make_model(nn, F)
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    batches = [(torch.randn(8, 3, 224, 224), torch.randint(1000, (8,))) for _ in range(2)]

    def train_step(x, y):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss

    return in_turn(train_step, batches)
