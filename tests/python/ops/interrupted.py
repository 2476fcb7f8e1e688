"""Signals that arrive in the middle of products and convolutions change nothing in them, nor in memory."""
import signal
import time

import terra

a = terra.ones(300, 300) / 300
images, filters = terra.ones(4, 16, 32, 32), terra.ones(16, 16, 3, 3) / 144
caught = 0


def note(number, frame):
    global caught
    caught += 1


def run(seconds):
    y, z = a, images
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        y = y @ a
        z = terra.nn.functional.conv2d(z, filters, padding=1)
        assert abs(y[0, 0].item() - 1 / 300) < 1e-4, y[0, 0]
        z = z / z.max()
        assert 0 < z.mean().item() <= 1, z.mean()


run(0.2)
signal.signal(signal.SIGALRM, note)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
run(1.5)
signal.setitimer(signal.ITIMER_REAL, 0)
assert caught > 50, caught
