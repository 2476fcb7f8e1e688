"""torch.backends.cpu: what the processor can do."""


def get_cpu_capability():
    """The widest vectors that the processor has, by PyTorch's names."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = set(next((line for line in file if line.startswith("flags")), "").split())
    except OSError:
        flags = set()
    return "AVX512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "DEFAULT"
