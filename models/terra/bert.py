"""The encoder of BERT, for bert_cls.py and bert_qa.py."""

import dataclasses
import math

import torch
from torch import nn


@dataclasses.dataclass
class BertConfig:
    vocabulary: int
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    intermediate: int = 512
    positions: int = 128
    dropout: float = 0.1


class BertEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(config.vocabulary, config.hidden, padding_idx=0)
        self.positions = nn.Embedding(config.positions, config.hidden)
        self.segments = nn.Embedding(2, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids, segments):
        positions = torch.arange(ids.size(1)).unsqueeze(0).expand_as(ids)
        return self.dropout(self.norm(self.words(ids) + self.positions(positions) + self.segments(segments)))


class BertSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads, self.head_size = config.heads, config.hidden // config.heads
        self.query = nn.Linear(config.hidden, config.hidden)
        self.key = nn.Linear(config.hidden, config.hidden)
        self.value = nn.Linear(config.hidden, config.hidden)
        self.dropout = nn.Dropout(config.dropout)

    def split_heads(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.head_size).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        query, key, value = (self.split_heads(part(x)) for part in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(self.head_size) + mask
        context = torch.matmul(self.dropout(scores.softmax(dim=-1)), value)
        return context.permute(0, 2, 1, 3).contiguous().view(x.shape)


class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = BertSelfAttention(config)
        self.attention_out = nn.Linear(config.hidden, config.hidden)
        self.attention_norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.intermediate = nn.Sequential(nn.Linear(config.hidden, config.intermediate), nn.GELU())
        self.out = nn.Linear(config.intermediate, config.hidden)
        self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, mask):
        x = self.attention_norm(x + self.dropout(self.attention_out(self.attention(x, mask))))
        return self.norm(x + self.dropout(self.out(self.intermediate(x))))


class Bert(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embeddings = BertEmbeddings(config)
        self.layers = nn.ModuleList(BertLayer(config) for _ in range(config.layers))

    def forward(self, ids, segments, mask):
        """`mask` is 1 where there is a word and 0 where there is filling."""
        x = self.embeddings(ids, segments)
        additive = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, additive)
        return x


def init_weights(module):
    """For `model.apply`."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        module.weight.data.normal_(mean=0.0, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        module.bias.data.zero_()


def parameter_groups(model, weight_decay=0.01):
    """For the optimizer: no decay of biases and norms."""
    exempt = ("bias", "norm")
    named = list(model.named_parameters())
    return [
        {"params": [p for n, p in named if not any(e in n for e in exempt)], "weight_decay": weight_decay},
        {"params": [p for n, p in named if any(e in n for e in exempt)], "weight_decay": 0.0},
    ]
