"""Memory that a device can read: all memory is, of the one device that there is."""


def pin_memory(data, device=None):
    return data
