"""A two-layer LSTM as a Python loop over 20 steps (hidden 200, batch 20), regression on the last state, SGD."""

from .batches import in_turn


STEPS, BATCH, HIDDEN, LAYERS = 20, 20, 200, 2


def cell(torch, inputs, h, c, weight, bias):
    i, f, u, o = torch.addmm(bias, torch.cat([inputs, h], 1), weight).chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
    return torch.sigmoid(o) * torch.tanh(c), c


def make_cells(torch, nn, inputs):
    sizes = [inputs if layer == 0 else HIDDEN for layer in range(LAYERS)]
    return (
        nn.ParameterList([nn.Parameter(torch.empty(n + HIDDEN, 4 * HIDDEN).uniform_(-0.1, 0.1)) for n in sizes]),
        nn.ParameterList([nn.Parameter(torch.zeros(4 * HIDDEN)) for _ in sizes]),
    )


def unroll(torch, weights, biases, sequence, batch):
    """The outputs of the top layer, one per step."""
    h = [sequence.new_zeros(batch, HIDDEN) for _ in range(LAYERS)]
    c = [sequence.new_zeros(batch, HIDDEN) for _ in range(LAYERS)]
    outputs = []
    for t in range(STEPS):
        inputs = sequence[t]
        for layer in range(LAYERS):
            h[layer], c[layer] = cell(torch, inputs, h[layer], c[layer], weights[layer], biases[layer])
            inputs = h[layer]
        outputs.append(inputs)
    return outputs


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Regression(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights, self.biases = make_cells(torch, nn, HIDDEN)
            self.out = nn.Linear(HIDDEN, 1)

        def forward(self, x):
            return self.out(unroll(torch, self.weights, self.biases, x, BATCH)[-1])

    net = Regression()
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    batches = [(torch.randn(STEPS, BATCH, HIDDEN), torch.randn(BATCH, 1)) for _ in range(4)]

    def train_step(x, y):
        opt.zero_grad()
        loss = F.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        return loss

    return in_turn(train_step, batches)
