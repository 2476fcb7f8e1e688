"""Strides that a pickle brings for its elements are not trusted."""
import terra

rebuild, arguments, _ = terra.zeros(2, 3, 4, 5).to(memory_format=terra.channels_last).__reduce_ex__(2)
*others, strides = arguments
assert strides == (60, 1, 15, 3) and rebuild(*others, strides).is_contiguous(memory_format=terra.channels_last)
refused = 0
for wrong in ((60, 1, 15, 4), (-60, 1, 15, 3), (2**62, 1, 15, 3), (61, 1, 15, 3)):
    try:
        rebuild(*others, wrong)
    except RuntimeError as error:
        assert "strides of a pickled" in str(error), error
        refused += 1
assert refused == 4
assert rebuild(*others, (0, 1, 15, 3)).shape == (2, 3, 4, 5)
print("1 passed")
