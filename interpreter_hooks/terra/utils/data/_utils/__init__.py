"""torch.utils.data._utils: where programs find collate functions to change."""

import sys

from ...._names import lazily
from .. import collate

sys.modules[__name__ + ".collate"] = collate

__getattr__ = lazily(__name__)
