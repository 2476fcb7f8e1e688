"""Files of safetensors of several processes made one."""

from ..._missing_parts import sentences
from ..._names import lazily

globals().update(sentences("torch.distributed.checkpoint._consolidate_hf_safetensors", ("consolidate_safetensors_files",)))

__getattr__ = lazily(__name__)
