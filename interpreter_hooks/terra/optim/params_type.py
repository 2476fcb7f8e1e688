"""What an optimizer is made of, for annotations; apart, because `typing` takes longer to import than the optimizers do."""

from typing import Any, Dict, Iterable, Tuple, Union

import _terra_C as C

ParamsT = Union[Iterable[C.Tensor], Iterable[Dict[str, Any]], Iterable[Tuple[str, C.Tensor]]]
StateDict = Dict[str, Any]
DeviceDict = Dict[Union[C.device, None], C.Tensor]
