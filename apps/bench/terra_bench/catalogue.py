"""The benchmarks."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Benchmark:
    what: str
    way: str  # a key of ways.WAYS
    program: str = ""  # a module of programs/
    goal: str = ""
    variants: tuple = ("captured",)  # of ours; the peer runs its eager form
    settings: dict = dataclasses.field(default_factory=dict)  # what the command line says


BENCHMARKS = {
    "lenet": Benchmark(
        "one training step of LeNet, batch 64, SGD with momentum", "blocks", "lenet", ">= 1.3x", ("captured", "eager")
    ),
    "mlp": Benchmark(
        "one training step of 4-64-64-2, batch 32, Adam", "blocks", "mlp", ">= 10x", ("captured", "eager")
    ),
    "add": Benchmark("a + b of 64 elements, no gradients", "blocks", "add", ">= 2.5x", ("eager",)),
    "add_grad": Benchmark("a + b of 64 elements that require grad", "blocks", "add_grad", ">= 2.5x", ("eager",)),
    "call": Benchmark(
        "f(8 tensors) -> 1 tensor of 7 additions of 16 elements", "blocks", "call", "",
        ("captured", "eager"),
    ),
    "call_above": Benchmark("the same: what a call costs above its graph", "above", "call", "<= 150 ns"),
    "call_flushed": Benchmark(
        "the same with caches flushed before each call (the flush is subtracted)", "blocks", "call_flushed", "",
        ("captured", "eager"),
    ),
    "call_module": Benchmark(
        "a module of 50 sub-modules, 16 elements each", "blocks", "call_module", "",
        ("captured", "eager"),
    ),
    "module_above": Benchmark("the same: what a call costs above its graph", "above", "call_module", "<= 250 ns"),
    "lstm": Benchmark(
        "one training step of a 2-layer LSTM as a loop over 20 steps", "blocks", "lstm", ">= 2x", ("captured", "eager")
    ),
    "ptb": Benchmark(
        "one training step of the PTB language model, gradients clipped", "blocks", "ptb", ">= 1.4x",
        ("captured", "eager"),
    ),
    "trees": Benchmark(
        "one training step of recursive networks over trees, H=150, E=300", "trees", "trees", "", ("captured", "eager")
    ),
    "coexec": Benchmark(
        "an iteration of a training loop: eager, captured by frames, and co-executed", "coexec", "training_loop", ""
    ),
    "programs": Benchmark(
        "a step of the ten programs of models/terra: eager, captured by frames, and co-executed", "programs", "", "faster"
    ),
    "warmup": Benchmark("time to the 1st, 2nd, 5th, 10th and 100th LeNet step", "warmup", "lenet", "10th within 1.2x"),
    "busy": Benchmark("the LeNet step beside one busy process, over the idle step", "busy", "lenet", "<= 2.2x of idle"),
    "memory": Benchmark("peak memory of LeNet steps over that of the import", "memory", "lenet", "<= the peer's"),
    "self_check": Benchmark("the engine's checks of itself in a minute of LeNet steps", "self_check", "lenet", "<= 2 %"),
    "recording": Benchmark("captures of a frame of 20,000 instructions", "recording", "long_frame", "<= 20 ms each"),
    "recording_resnet": Benchmark("captures of the training step of ResNet-50", "recording", "resnet50", "<= 1000 ms"),
    "hook_calls": Benchmark("pure Python: calls", "slowdown", "plain_calls", "<= 1.4x"),
    "hook_attributes": Benchmark("pure Python: attributes and containers", "slowdown", "plain_attributes", "<= 1.1x"),
    "hook_generators": Benchmark("pure Python: generators", "slowdown", "plain_generators", "<= 1.1x"),
    "startup": Benchmark("import, and a tensor of two ones", "startup", "", "<= 150 ms, <= 80 MB"),
}  # fmt: skip
