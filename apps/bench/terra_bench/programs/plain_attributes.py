"""Pure Python: loops over attributes, lists, dicts and strings, with few calls."""


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


def build(_):
    points = [Point(i, -i) for i in range(500)]
    names = {}

    def step():
        for turn in range(8):
            for p in points:
                p.x, p.y = p.y + turn, p.x - turn
                names[p.x & 63] = p
        text = ""
        for key in sorted(names):
            text += str(names[key].y)
        return text

    return step
