"""torch.jit.annotations: names of types that models took from here before Python had them."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401

from .._names import lazily

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = List

__getattr__ = lazily(__name__)
