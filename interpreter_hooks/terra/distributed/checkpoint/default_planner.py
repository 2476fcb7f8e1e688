"""Who writes and reads what: the one process everything."""

from ..._missing_parts import sentences
from ..._names import lazily

globals().update(
    sentences("torch.distributed.checkpoint.default_planner", ("DefaultLoadPlanner", "DefaultSavePlanner", "_EmptyStateDictLoadPlanner"))
)

__getattr__ = lazily(__name__)
