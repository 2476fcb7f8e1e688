"""Marks on functions that say what an op of one's own is in ONNX. Nothing calls them: no files are written."""


def parse_args(*arg_descriptors):
    return lambda function: function


def quantized_args(*arg_q_descriptors, **_):
    return lambda function: function
