"""Reads rows of glyphs of unknown width: convolution, recurrent layer, CTC loss, best-path decoding."""
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
GLYPHS = torch.rand(4, 5, 3).round()
BLANK = 0


def line(length):
    labels = torch.randint(1, 5, (length,))
    columns = []
    for label in labels.tolist():
        columns.append(GLYPHS[label - 1])
        columns.append(torch.zeros(5, int(torch.randint(1, 3, ()))))
    return torch.cat(columns, 1), labels


def batch(size):
    lines = [line(int(torch.randint(1, 4, ()))) for _ in range(size)]
    widest = max(image.size(1) for image, _ in lines)
    images = torch.stack([F.pad(image, (0, widest - image.size(1))) for image, _ in lines])
    widths = torch.tensor([image.size(1) for image, _ in lines])
    labels = torch.cat([labels for _, labels in lines])
    lengths = torch.tensor([len(labels) for _, labels in lines])
    return images, widths, labels, lengths


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Conv1d(5, 16, 3, padding=1)
        self.read = nn.GRU(16, 12, bidirectional=True)
        self.name = nn.Linear(24, 5)

    def forward(self, images):
        states, _ = self.read(F.relu(self.look(images)).permute(2, 0, 1))
        return F.log_softmax(self.name(states), -1)


def decoded(scores, width):
    best = scores[:width].argmax(-1).tolist()
    return [label for i, label in enumerate(best) if label != BLANK and (i == 0 or best[i - 1] != label)]


model = Reader()
criterion = nn.CTCLoss(blank=BLANK, zero_infinity=True)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(80):
    images, widths, labels, lengths = batch(8)
    loss = criterion(model(images), labels, widths, lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step} loss {loss.item():.3f}")
with torch.no_grad():
    images, widths, labels, lengths = batch(6)
    scores = model(images)
    right = 0
    for i, (width, wanted) in enumerate(zip(widths.tolist(), labels.split(lengths.tolist()))):
        right += decoded(scores[:, i], width) == wanted.tolist()
    print("right", right, "of 6", "all scores", round(scores.sum().item() / 1000, 2))
