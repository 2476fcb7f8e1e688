"""torch.onnx: writing ONNX files is not there."""

from .._missing_parts import sentences
from .._names import lazily

_NAMES = ("dynamo_export", "export", "export_to_pretty_string", "load", "register_custom_op_symbolic", "unregister_custom_op_symbolic")
globals().update(sentences("torch.onnx", _NAMES, "Terra does not read or write ONNX files"))


def is_in_onnx_export():
    return False


def is_onnxrt_backend_supported():
    return False


__getattr__ = lazily(__name__, ("operators", "symbolic_helper"))
