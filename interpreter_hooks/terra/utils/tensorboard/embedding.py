"""Points for TensorBoard's projector: files of tab-separated values, and a list of them."""

import math
import os

from .png import png
from .summary import as_bytes, as_hwc


def _encoded(tag):
    return "".join(c if c.isalnum() or c in "-_." else f"%{ord(c):02x}" for c in tag)


def _sprite(images):
    """All images in one square: the rows of its pixels, and its size."""
    count, _, height, width = images.shape
    side = math.ceil(math.sqrt(count))
    sheet = images.new_zeros((3, side * height, side * width))
    for i in range(count):
        row, column = divmod(i, side)
        sheet[:, row * height : (row + 1) * height, column * width : (column + 1) * width] = images[i]
    return as_hwc(sheet, "CHW")


def write(log_dir, mat, metadata, label_img, global_step, tag, metadata_header):
    """A folder for the step and tag; the projector's list names its files."""
    step = f"{0 if global_step is None else global_step:05d}"
    folder = f"{step}/{_encoded(tag)}"
    os.makedirs(os.path.join(log_dir, folder), exist_ok=True)
    rows = mat.detach().reshape(mat.shape[0], -1).tolist()
    entry = [f'tensor_name: "{tag}:{step}"', f'tensor_path: "{folder}/tensors.tsv"']
    _write_rows(os.path.join(log_dir, folder, "tensors.tsv"), rows)
    if metadata is not None:
        metadata = list(metadata)
        if len(metadata) != mat.shape[0]:
            raise AssertionError("#labels should equal with #data points")
        head = [metadata_header] if metadata_header else []
        lines = [line if metadata_header else [line] for line in metadata]
        _write_rows(os.path.join(log_dir, folder, "metadata.tsv"), [*head, *lines])
        entry.append(f'metadata_path: "{folder}/metadata.tsv"')
    if label_img is not None:
        if label_img.shape[0] != mat.shape[0]:
            raise AssertionError("#images should equal with #data points")
        sheet = _sprite(label_img)
        with open(os.path.join(log_dir, folder, "sprite.png"), "wb") as file:
            file.write(png(as_bytes(sheet), *sheet.shape))
        size = f"single_image_dim: {label_img.shape[3]}\nsingle_image_dim: {label_img.shape[2]}"
        entry.append(f'sprite {{\nimage_path: "{folder}/sprite.png"\n{size}\n}}')
    with open(os.path.join(log_dir, "projector_config.pbtxt"), "a", encoding="utf-8") as file:
        file.write("embeddings {\n" + "\n".join(entry) + "\n}\n")


def _write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("\t".join(map(str, row)) + "\n" for row in rows)
