"""torch.utils.data._utils: where programs find collate functions to change, and what workers begin with."""

import sys

from ...._names import lazily
from .. import collate, pinning as pin_memory, workers as worker

sys.modules[__name__ + ".collate"] = collate
sys.modules[__name__ + ".pin_memory"] = pin_memory
sys.modules[__name__ + ".worker"] = worker

__getattr__ = lazily(__name__)
