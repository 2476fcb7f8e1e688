"""torch.export: programs as graphs that outlive the process are not there."""

from ._missing_parts import sentences
from ._names import lazily

_WHY = "Terra makes graphs while a program runs and does not export them; torch.save keeps a model's state_dict"
globals().update(sentences("torch.export", ("Dim", "draft_export", "export", "export_for_training", "load", "register_dataclass", "save", "unflatten"), _WHY))


class ExportedProgram:
    """There are none: making one raises."""

    def __init__(self, *_, **__):
        raise NotImplementedError(f"torch.export.ExportedProgram: {_WHY}.")


__getattr__ = lazily(__name__)
