"""Checkpoints in files of safetensors, a part with each process."""

from ..._missing_parts import sentences
from ..._names import lazily

globals().update(
    sentences(
        "torch.distributed.checkpoint.hf_storage", ("HuggingFaceStorageReader", "HuggingFaceStorageWriter"),
        "it is not in Terra yet: safetensors.torch reads and writes such files",
    )
)  # fmt: skip

__getattr__ = lazily(__name__)
