"""BERT that tells the class of a sentence. In the middle of the forward pass a tensor becomes a Python number, the
length of the batch's longest sentence, and everything after it has that size."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from bert import Bert, BertConfig, init_weights, parameter_groups
from common import Progress, accuracy, batches, parse, split
from texts import CLS, PAD, SEP, Vocabulary, labelled_sentences, padded

LONGEST = 48


class BertForSequenceClassification(nn.Module):
    def __init__(self, config, classes=2):
        super().__init__()
        self.bert = Bert(config)
        self.pooler = nn.Linear(config.hidden, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.classifier = nn.Linear(config.hidden, classes)

    def forward(self, ids):
        mask = (ids != PAD).long()
        longest = int(mask.sum(1).max())
        ids, mask = ids[:, :longest], mask[:, :longest]
        hidden = self.bert(ids, torch.zeros_like(ids), mask)
        return self.classifier(self.dropout(torch.tanh(self.pooler(hidden[:, 0]))))


def load(draw, folder):
    sentences, labels = labelled_sentences(draw, folder)
    vocabulary = Vocabulary(sentences)
    ids = padded([[CLS, *vocabulary.encode(words)[: LONGEST - 2], SEP] for words in sentences], LONGEST)
    return vocabulary, ids, labels


def main(arguments=None, progress=None):
    options = parse("Trains BERT to classify sentences.", arguments, 200, "train.tsv of SST-2")
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)
    vocabulary, ids, labels = load(draw, options.data)
    train, test = split(256, ids, labels)

    model = BertForSequenceClassification(BertConfig(len(vocabulary), positions=LONGEST))
    model.apply(init_weights)
    optimizer = torch.optim.AdamW(parameter_groups(model), lr=5e-4)
    for step, (ids, labels) in zip(range(1, options.steps + 1), batches(draw, 16, *train)):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(ids), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        progress.step(step, loss)
    print(f"test accuracy: {100 * accuracy(model, *test):.1f} %")


if __name__ == "__main__":
    main()
