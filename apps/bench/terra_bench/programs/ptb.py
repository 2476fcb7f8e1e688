"""The PTB language model: embedding 200, the two-layer LSTM of lstm.py, vocabulary 10,000, gradient clipping, SGD."""

from .batches import in_turn
from .lstm import BATCH, HIDDEN, STEPS, make_cells, unroll

WORDS = 10000


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class LanguageModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, HIDDEN)
            self.weights, self.biases = make_cells(torch, nn, HIDDEN)
            self.out = nn.Linear(HIDDEN, WORDS)

        def forward(self, x, y):
            outputs = unroll(torch, self.weights, self.biases, self.words(x), BATCH)
            return F.cross_entropy(self.out(torch.cat(outputs)), y.reshape(-1))

    net = LanguageModel()
    parameters = list(net.parameters())
    opt = torch.optim.SGD(parameters, lr=1.0)
    batches = [(torch.randint(WORDS, (STEPS, BATCH)), torch.randint(WORDS, (STEPS, BATCH))) for _ in range(4)]

    def train_step(x, y):
        opt.zero_grad()
        loss = net(x, y)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 5.0)
        opt.step()
        return loss

    return in_turn(train_step, batches)
