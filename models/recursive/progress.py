"""A bar that shows how far something has got."""

import sys
import time


class Progress:
    """On stderr, and only where that is a terminal.

    with Progress("epoch 1", 342) as progress:
        ...
        progress.advance(f"loss {loss:.3f}")"""

    WIDTH, SECONDS = 30, 0.1

    def __init__(self, title, total, stream=None):
        self.title, self.total, self.done = title, total, 0
        self.stream = stream or sys.stderr
        self.shown = self.stream.isatty()
        self.drawn_at = 0.0

    def advance(self, text=""):
        self.done += 1
        now = time.monotonic()
        if self.shown and (now - self.drawn_at > self.SECONDS or self.done == self.total):
            self.drawn_at = now
            filled = self.WIDTH * self.done // self.total
            bar = "#" * filled + "." * (self.WIDTH - filled)
            self.stream.write(f"\r{self.title} [{bar}] {self.done}/{self.total} {text}\x1b[K")
            self.stream.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
