"""BERT that finds the answer to a question in a text. A step gathers the gradients of two batches before the
optimizer moves, so state lives across backward passes, and now and then it reads predictions to log how many are
exact."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from bert import Bert, BertConfig, init_weights, parameter_groups
from common import Progress, batches, parse, split
from texts import CLS, PAD, SEP, Vocabulary, padded, questions

LONGEST = 96
ACCUMULATED = 2


class BertForQuestionAnswering(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.bert = Bert(config)
        self.outputs = nn.Linear(config.hidden, 2)

    def forward(self, ids, segments, starts=None, ends=None):
        logits = self.outputs(self.bert(ids, segments, (ids != PAD).long()))
        start_logits, end_logits = (part.squeeze(-1) for part in logits.split(1, dim=-1))
        if starts is None:
            return start_logits, end_logits
        loss = (F.cross_entropy(start_logits, starts) + F.cross_entropy(end_logits, ends)) / 2
        return loss, start_logits, end_logits


def load(draw, folder):
    """(vocabulary, ids, segments, first and last place of the answers)"""
    rows = questions(draw, folder)
    vocabulary = Vocabulary([words for question, text, _, _ in rows for words in (question, text)])
    ids, segments, starts, ends = [], [], [], []
    for question, text, first, last in rows:
        asked = [CLS, *vocabulary.encode(question), SEP]
        if len(asked) + last >= LONGEST:
            continue
        ids.append([*asked, *vocabulary.encode(text), SEP])
        segments.append([0] * len(asked) + [1] * (len(text) + 1))
        starts.append(len(asked) + first)
        ends.append(len(asked) + last)
    length = min(LONGEST, max(len(row) for row in ids))
    return vocabulary, padded(ids, length), padded(segments, length), np.array(starts), np.array(ends)


def exact_matches(start_logits, end_logits, starts, ends):
    return ((start_logits.argmax(1) == starts) & (end_logits.argmax(1) == ends)).sum().item()


@torch.no_grad()
def evaluate(model, arrays, size=64):
    """The share of exact answers."""
    model.eval()
    exact = 0
    for i in range(0, len(arrays[0]), size):
        ids, segments, starts, ends = (torch.from_numpy(array[i : i + size]) for array in arrays)
        exact += exact_matches(*model(ids, segments), starts, ends)
    model.train()
    return exact / len(arrays[0])


def main(arguments=None, progress=None):
    options = parse("Trains BERT to answer questions.", arguments, 250, "xquad.en.json")
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)
    vocabulary, *arrays = load(draw, options.data)
    train, test = split(192, *arrays)

    model = BertForQuestionAnswering(BertConfig(len(vocabulary), positions=LONGEST))
    model.apply(init_weights)
    optimizer = torch.optim.AdamW(parameter_groups(model), lr=1e-3)
    loader = batches(draw, 8, *train)
    exact, seen = 0, 0
    for step in range(1, options.steps + 1):
        total = 0.0
        for _ in range(ACCUMULATED):
            ids, segments, starts, ends = next(loader)
            loss, start_logits, end_logits = model(ids, segments, starts, ends)
            loss = loss / ACCUMULATED
            loss.backward()
            total = total + loss.detach()
            if step % options.log_every == 0:
                exact += exact_matches(start_logits, end_logits, starts, ends)
                seen += len(ids)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        progress.step(step, total)
        if step % options.log_every == 0:
            print(f"exact matches so far: {exact} of {seen}")
    print(f"exact matches of test questions: {100 * evaluate(model, test):.1f} %")


if __name__ == "__main__":
    main()
