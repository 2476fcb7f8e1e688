"""Texts: sentences of small grammars that the program draws itself, and files of sentences, questions and plain
text."""

import json
import re
import sys
from collections import Counter

import numpy as np

from common import read_file

PAD, UNKNOWN, CLS, SEP = range(4)
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


class Vocabulary:
    """The most frequent words of some sentences. Their numbers start after those of the specials."""

    def __init__(self, sentences, most=5000):
        counts = Counter(word for sentence in sentences for word in sentence)
        self.words = [*SPECIALS, *(word for word, _ in counts.most_common(most - len(SPECIALS)))]
        self.ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self):
        return len(self.words)

    def encode(self, words):
        return [self.ids.get(word, UNKNOWN) for word in words]


def padded(rows, length):
    """int64 [len(rows), length], rows cut or filled up with PAD."""
    array = np.full((len(rows), length), PAD, dtype=np.int64)
    for filled, row in zip(array, rows):
        row = row[:length]
        filled[: len(row)] = row
    return array


# Plain text

ANIMALS, ADJECTIVES = ("cat", "dog", "horse", "bird", "mouse"), ("small", "old", "red", "quick", "sleepy")
VERBS, PLACES = ("see", "chase", "like", "hear"), ("garden", "house", "field", "river")


def drawn_text(draw, sentences):
    """Sentences in which verbs agree with their subjects."""

    def noun(plural):
        adjective = f"{draw.choice(ADJECTIVES)} " if draw.random() < 0.5 else ""
        return f"the {adjective}{draw.choice(ANIMALS)}{'s' if plural else ''}".replace("mouses", "mice")

    parts = []
    for _ in range(sentences):
        plural = draw.random() < 0.5
        place = f" in the {draw.choice(PLACES)}" if draw.random() < 0.5 else ""
        verb = f"{draw.choice(VERBS)}{'' if plural else 's'}"
        parts.append(f"{noun(plural)} {verb} {noun(draw.random() < 0.5)}{place}.\n")
    return "".join(parts)


def plain_text(draw, folder=None):
    return read_file(folder, "input.txt").decode() if folder else drawn_text(draw, 4000)


# Sentences with a class

GOOD, BAD = ("good", "great", "funny", "clever", "warm"), ("bad", "dull", "slow", "silly", "cold")
THINGS = ("film", "story", "music", "ending", "hero", "plot", "scene", "dialogue")


def drawn_sentences(draw, count):
    """(sentences, labels): one to five clauses, all good or all bad, some said by a negation of the contrary."""
    sentences, labels = [], []
    for _ in range(count):
        good = draw.integers(2)
        words = []
        for _ in range(draw.integers(1, 6)):
            negated = draw.random() < 0.3
            words += ["and"] if words else []
            words += ["the", draw.choice(THINGS), "was"]
            words += ["not"] if negated else []
            words += ["very"] if draw.random() < 0.3 else []
            words.append(draw.choice(GOOD if good != negated else BAD))
        sentences.append(words)
        labels.append(good)
    return sentences, np.array(labels, dtype=np.int64)


def labelled_sentences(draw, folder=None):
    """Drawn ones, or those of a train.tsv as in SST-2."""
    if not folder:
        return drawn_sentences(draw, 3000)
    lines = read_file(folder, "train.tsv").decode().splitlines()[1:]
    rows = [line.rsplit("\t", 1) for line in lines]
    if not all(len(row) == 2 and row[1] in ("0", "1") for row in rows):
        sys.exit(f"train.tsv in {folder} should have a sentence, a tab and 0 or 1 in each line after the first")
    return [text.split() for text, _ in rows], np.array([int(label) for _, label in rows], dtype=np.int64)


# Questions about a text

NAMES = ("anna", "ben", "carla", "david", "emma", "felix", "greta", "hugo")
FACTS = {  # a statement, its question, possible answers
    "lives": ("{} lives in {}", "where does {} live", ("paris", "new york", "rome", "cape town", "oslo", "hong kong")),
    "likes": ("{} likes {}", "what does {} like", ("tea", "hot chocolate", "milk", "apple juice", "coffee")),
    "works": ("{} works as a {}", "what is {} by profession", ("doctor", "bus driver", "teacher", "fire fighter")),
}


def drawn_questions(draw, count):
    """[(question, text, first and last word of the answer in the text)]: the text tells facts of several people."""
    rows = []
    for _ in range(count):
        told = [(name, fact) for name in draw.choice(NAMES, 3, replace=False) for fact in FACTS]
        told = [told[i] for i in draw.permutation(len(told))[: draw.integers(2, 6)]]
        asked = draw.integers(len(told))
        text = []
        for i, (name, fact) in enumerate(told):
            statement, question, answers = FACTS[fact]
            answer = draw.choice(answers)
            text += statement.format(name, answer).split()
            if i == asked:
                span = len(text) - len(answer.split()), len(text) - 1
                asked_question = question.format(name).split()
            text.append(".")
        rows.append((asked_question, text, *span))
    return rows


def words_with_places(text):
    return [(match.group().lower(), match.start(), match.end()) for match in re.finditer(r"\w+|[^\w\s]", text)]


def squad_questions(draw, folder, name="xquad.en.json", window=80):
    """The same of a file in the form of SQuAD; texts are cut to a random window of words around the answer."""
    rows = []
    try:
        parts = json.loads(read_file(folder, name))["data"]
        for paragraph in (paragraph for part in parts for paragraph in part["paragraphs"]):
            words = words_with_places(paragraph["context"])
            for entry in paragraph["qas"]:
                answer = entry["answers"][0]
                begin, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
                inside = [i for i, (_, left, right) in enumerate(words) if left < end and right > begin]
                cut = max(0, inside[0] - draw.integers(window // 2))
                if inside[-1] - cut < window:
                    text = [word for word, _, _ in words[cut : cut + window]]
                    question = [word for word, _, _ in words_with_places(entry["question"])]
                    rows.append((question, text, inside[0] - cut, inside[-1] - cut))
    except (KeyError, IndexError, TypeError, json.JSONDecodeError) as error:
        sys.exit(f"{name} in {folder} isn't in the form of SQuAD: {error!r}")
    return rows


def questions(draw, folder=None):
    return squad_questions(draw, folder) if folder else drawn_questions(draw, 3000)
