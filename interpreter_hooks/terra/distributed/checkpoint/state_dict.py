"""State dicts of models that may lie in parts: of one process they are the models' own."""

import dataclasses

from ..._missing_parts import sentences
from ..._names import lazily


@dataclasses.dataclass
class StateDictOptions:
    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False


def get_model_state_dict(model, *, submodules=None, options=None):
    state = model.state_dict()
    if options is not None and options.ignore_frozen_params:
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                state.pop(name, None)
    return state


def set_model_state_dict(model, model_state_dict, *, options=None):
    return model.load_state_dict(model_state_dict, strict=options is None or options.strict)


globals().update(
    sentences(
        "torch.distributed.checkpoint.state_dict",
        ("get_optimizer_state_dict", "get_state_dict", "set_optimizer_state_dict", "set_state_dict"),
        "it is not in Terra yet: the optimizer's own state_dict() and load_state_dict() are there",
    )
)  # fmt: skip

__getattr__ = lazily(__name__)
