"""terra.capture.freeze(): hits go on, a miss raises, functions without entries run plainly."""
import terra
from terra import capture


def scaled(x, factor):
    return x * factor + x


def other(x):
    return x - 1


def main():
    x = terra.arange(4.0)
    for _ in range(8):
        scaled(x, 3)
    before = capture.stats()["replays"]
    capture.freeze()
    assert scaled(x, 3).tolist() == [0.0, 4.0, 8.0, 12.0]
    assert capture.stats()["replays"] == before + 1
    try:
        scaled(terra.arange(3.0), 3)
    except RuntimeError as error:
        text = str(error)
        assert text.startswith("The call of scaled ("), text
        assert "x.shape[0] was 4, now 3" in text and "freeze(False)" in text, text
    else:
        raise AssertionError("a miss of a frozen function went unnoticed")
    for _ in range(8):
        assert other(x).tolist() == [-1.0, 0.0, 1.0, 2.0]
    assert scaled(x, 3).tolist() == [0.0, 4.0, 8.0, 12.0]
    capture.freeze(False)
    assert scaled(terra.arange(3.0), 3).tolist() == [0.0, 4.0, 8.0]
    print("9 passed")


main()
