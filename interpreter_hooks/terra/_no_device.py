"""What the modules of devices that there are none of (cuda, xpu, accelerator) answer: nothing is there, nothing is counted."""


def is_available():
    return False


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Nothing to seed."""


manual_seed_all = manual_seed


def seed():
    """Nothing to seed."""


seed_all = seed


def empty_cache():
    """Nothing to free."""


def synchronize(device=None):
    """Nothing to wait for."""


def memory_allocated(device=None):
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device=None):
    return {}


def reset_peak_memory_stats(device=None):
    """Nothing was counted."""


reset_accumulated_memory_stats = reset_peak_memory_stats


def get_rng_state_all():
    return []


def set_rng_state_all(states):
    """Nothing to set."""


def get_arch_list():
    return []


def get_gencode_flags():
    return ""
