# run: --torch
"""Data sets from little files made here: lengths, names, images, targets, texts and errors, as torchvision's."""

import bz2
import hashlib
import os
import pathlib
import struct
import tarfile
import tempfile
from xml.etree import ElementTree

import torch
from _tables import check, said
from torchvision import datasets
from torchvision.datasets.folder import IMG_EXTENSIONS, has_file_allowed_extension, make_dataset
from torchvision.datasets.utils import check_integrity, extract_archive, list_dir, list_files, verify_str_arg
from torchvision.transforms import Compose, Lambda, Normalize, RandomCrop, ToTensor

ROOT = pathlib.Path(tempfile.mkdtemp())
os.chdir(ROOT)


def content(count, start=0):
    return bytes((i * 37 + i // 11 * 101 + start) % 256 for i in range(count))


def written(name, data):
    path = ROOT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return hashlib.md5(data).hexdigest()


def text(words):
    return b"U" + bytes([len(words)]) + words.encode()


def batch(rows, labels, key="labels"):
    """A batch as Python 2 pickled it: {"data": array of bytes, key: labels}."""
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\x01b\x87R(K\x01K"
        + bytes([len(rows)]) + b"M\0\x0c\x86"
        b"cnumpy\ndtype\nU\x02u1K\0K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89T"
        + struct.pack("<I", 3072 * len(rows)) + b"".join(rows) + b"tb"
    )  # fmt: skip
    numbers = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    return b"\x80\x02}(" + text("data") + array + text(key) + numbers + b"u."


def names_of(key, names):
    return b"\x80\x02}(" + text(key) + b"](" + b"".join(map(text, names)) + b"eu."


class Cifar(datasets.CIFAR10):
    base_folder = "cifar"
    train_list = [
        [f"part_{i}", written(f"cifar/part_{i}", batch([content(3072, i), content(3072, 9)], [i, 3]))] for i in range(2)
    ]
    test_list = [["test", written("cifar/test", batch([content(3072, 77)], [1]))]]
    meta = {
        "filename": "names",
        "key": "label_names",
        "md5": written("cifar/names", names_of("label_names", ["a", "b", "c", "d"])),
    }


class Hundred(Cifar):
    train_list = [["fine", written("cifar/fine", batch([content(3072, 5)], [7], "fine_labels"))]]
    test_list = []


class Damaged(Cifar):
    test_list = [["test", "0" * 32]]


class Packed(Cifar):
    """In an archive that download=True unpacks."""

    base_folder = "inner"
    filename = "inner.tar.gz"
    train_list = [["part", hashlib.md5(batch([content(3072)], [2])).hexdigest()]]
    test_list = []
    meta = {"filename": "names", "key": "label_names", "md5": Cifar.meta["md5"]}


written("inner/part", batch([content(3072)], [2]))
written("inner/names", (ROOT / "cifar/names").read_bytes())
(ROOT / "packed").mkdir()
with tarfile.open(ROOT / "packed/inner.tar.gz", "w:gz") as archive:
    archive.add(ROOT / "inner", "inner")
Packed.tgz_md5 = hashlib.md5((ROOT / "packed/inner.tar.gz").read_bytes()).hexdigest()

for part, count in (("train", 4), ("t10k", 2)):
    for home in ("MNIST", "FashionMNIST", "KMNIST"):
        images = struct.pack(">IIII", 0x803, count, 28, 28) + content(count * 784)
        written(f"{home}/raw/{part}-images-idx3-ubyte", images)
        written(f"{home}/raw/{part}-labels-idx1-ubyte", struct.pack(">II", 0x801, count) + bytes(range(count)))
for kind in ("train", "test"):
    written(
        f"EMNIST/raw/emnist-letters-{kind}-images-idx3-ubyte", struct.pack(">IIII", 0x803, 1, 28, 28) + content(784)
    )
    written(f"EMNIST/raw/emnist-letters-{kind}-labels-idx1-ubyte", struct.pack(">II", 0x801, 1) + b"\5")
for split, name in (("train", "usps.bz2"), ("test", "usps.t.bz2")):
    rows = "".join(
        f"{k + 1} " + " ".join(f"{i + 1}:{(i * 7 + k) % 200 / 100 - 1:.4f}" for i in range(256)) + "\n"
        for k in range(3)
    )
    datasets.USPS.split_list[split][2] = written(name, bz2.compress(rows.encode()))


class Stl(datasets.STL10):
    base_folder = "stl"
    train_list = [
        ["train_X.bin", written("stl/train_X.bin", content(3 * 27648))],
        ["train_y.bin", written("stl/train_y.bin", b"\1\2\3")],
        ["unlabeled_X.bin", written("stl/unlabeled_X.bin", content(27648, 3))],
    ]
    test_list = [
        ["test_X.bin", written("stl/test_X.bin", content(27648, 4))],
        ["test_y.bin", written("stl/test_y.bin", b"\5")],
    ]


written("stl/class_names.txt", b"bird\ncat\n")
written("stl/fold_indices.txt", b"0 2\n" * 10)
for name in ("cat/1.png", "cat/deep/0.PNG", "cat/notes.txt", "dog/2.jpg", "dog/1.bmp", "empty/x.txt"):
    written(f"tree/{name}", name.encode())
(ROOT / "hollow").mkdir()
for name in ("n01/a.JPEG", "n02/b.JPEG"):
    written(f"imagenet/val/{name}", name.encode())
written("food-101/meta/train.json", b'{"soup": ["soup/1", "soup/2"], "cake": ["cake/7"]}')
(ROOT / "food-101/images").mkdir()
written("oxford-iiit-pet/annotations/test.txt", b"Sphynx_9 2 1 3\ngreat_pyrenees_1 3 2 9\nAbyssinian_2 1 1 1\n")
(ROOT / "oxford-iiit-pet/images").mkdir()
torch.save(({"n01": ("cat", "tom"), "n02": ("dog",)}, ["n01"]), "imagenet/meta.bin")

SHOWN = Compose([ToTensor(), Lambda(lambda t: t * 255)])


def whole(dataset, *names):
    return [
        len(dataset),
        [dataset[i] for i in range(len(dataset))],
        [getattr(dataset, name) for name in names],
        repr(dataset),
    ]


def random_crops():
    torch.manual_seed(0)
    dataset = Cifar(".", transform=Compose([RandomCrop(32, padding=4), ToTensor(), Normalize([0.5] * 3, [0.5] * 3)]))
    return [dataset[i] for i in range(4)]


def loaded():
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(Cifar(".", transform=ToTensor()), batch_size=3, shuffle=True)
    return list(loader)


def fakes(**options):
    torch.manual_seed(5)
    dataset = datasets.FakeData(3, (3, 6, 7), 4, transform=ToTensor(), **options)
    return [*(dataset[i] for i in range(3)), float(torch.rand(1)), repr(dataset.size)]


def tree(**options):
    return datasets.DatasetFolder(
        "tree", **{"loader": os.path.basename, "extensions": IMG_EXTENSIONS, "allow_empty": True, **options}
    )


class Empty(datasets.VisionDataset):
    def __len__(self):
        return 3


CALLS = {
    "cifar": lambda: whole(Cifar(".", transform=SHOWN), "targets", "classes", "class_to_idx"),
    "cifar test": lambda: whole(Cifar(".", train=False, transform=SHOWN, download=True), "targets"),
    "cifar fine": lambda: whole(Hundred(".", transform=SHOWN, target_transform=Lambda(lambda t: t + 5))),
    "cifar data": lambda: torch.as_tensor(Cifar(".").data),
    "cifar damaged": lambda: Damaged("."),
    "cifar packed": lambda: whole(Packed("packed", transform=SHOWN, download=True)),
    "cifar absent": lambda: datasets.CIFAR10("/nowhere"),
    "cifar crops": random_crops,
    "cifar loader": loaded,
    "mnist": lambda: whole(datasets.MNIST(".", transform=SHOWN), "classes", "class_to_idx", "targets", "raw_folder"),
    "mnist test": lambda: whole(datasets.MNIST(".", train=False, transform=SHOWN), "data", "test_labels"),
    "fashion": lambda: whole(datasets.FashionMNIST(".", transform=SHOWN), "classes"),
    "kmnist": lambda: whole(datasets.KMNIST(".", transform=SHOWN), "classes"),
    "emnist": lambda: whole(datasets.EMNIST(".", "letters", transform=SHOWN), "classes"),
    "emnist split": lambda: datasets.EMNIST(".", "numbers"),
    "usps": lambda: [whole(datasets.USPS(".", train=train, transform=SHOWN)) for train in (True, False)],
    **{f"stl {s} {f}": lambda s=s, f=f: whole(Stl(".", s, f, transform=SHOWN), "classes")[:3]
       for s, f in (("train", None), ("test", None), ("train", 1), ("train+unlabeled", None), ("unlabeled", None))},
    "stl labels": lambda: torch.as_tensor(Stl(".", "train+unlabeled", 1).labels),
    "stl split": lambda: Stl(".", "best"),
    "stl fold": lambda: Stl(".", folds=10),
    "folder": lambda: whole(tree(), "samples", "targets", "classes", "class_to_idx"),
    "folder transforms": lambda: tree(transform=str.upper, target_transform=float)[1],
    "folder choice": lambda: tree(extensions=None, is_valid_file=lambda path: path.endswith(".txt")).samples,
    "folder choice twice": lambda: tree(is_valid_file=len),
    "folder with none": lambda: datasets.ImageFolder("tree"),
    "folder without classes": lambda: datasets.ImageFolder("hollow"),
    "folder absent": lambda: datasets.ImageFolder("absent"),
    "imagenet": lambda: whole(
        datasets.ImageNet("imagenet", "val", loader=os.path.basename), "classes", "class_to_idx", "wnids"
    ),
    "food": lambda: whole(datasets.Food101(".", loader=os.path.basename), "classes", "class_to_idx"),
    "food absent": lambda: datasets.Food101("/nowhere"),
    "pets": lambda: [
        [getattr(pets, name) for name in ("classes", "class_to_idx", "bin_classes", "_labels", "_bin_labels")]
        for pets in [datasets.OxfordIIITPet(".", "test", target_types=["category", "segmentation"])]
    ],
    "pets target": lambda: datasets.OxfordIIITPet(".", "test", target_types="weight"),
    "pets absent": lambda: datasets.OxfordIIITPet("/nowhere"),
    "imagenet split": lambda: datasets.ImageNet("imagenet", "best"),
    "make_dataset": lambda: make_dataset("tree", {"cat": 5}, extensions=".png"),
    "make_dataset of none": lambda: make_dataset("tree", {}, extensions=".png"),
    "extensions": lambda: [has_file_allowed_extension(n, IMG_EXTENSIONS) for n in ("a.PNG", "b.txt", "c.webp")],
    "fake": fakes,
    "fake offset": lambda: fakes(random_offset=7, target_transform=lambda target: target + 1),
    "fake end": lambda: datasets.FakeData(2)[2],
    "transforms twice": lambda: Empty("x", transforms=len, transform=len),
    "repr": lambda: repr(Empty("x", transform=ToTensor(), target_transform=Normalize(0.5, 0.5))),
    "integrity": lambda: [check_integrity("usps.bz2"), check_integrity("usps.bz2", "0"), check_integrity("none")],
    "lists": lambda: [sorted(list_dir(".")), sorted(list_files(".", ".bz2", prefix=True))],
    "archive": lambda: [extract_archive("usps.bz2", "hollow"), os.path.getsize("hollow/usps")],
    "archive kind": lambda: extract_archive("tree/dog/2.jpg"),
    "voc": lambda: datasets.VOCDetection.parse_voc_xml(
        ElementTree.fromstring(
            "<annotation><size><width>9</width><height> 8 </height></size><object><name>cat</name></object><empty/>"
            "<part>a</part><part>b</part></annotation>"
        )
    ),
    "voc absent": lambda: datasets.VOCDetection("/nowhere"),
    "voc year": lambda: datasets.VOCSegmentation(".", year="1999"),
    "verify": lambda: verify_str_arg("a", "split", ("a", "b")),
    "verify other": lambda: verify_str_arg("c", "split", ("a", "b")),
}  # fmt: skip

check([(name, said(function)) for name, function in CALLS.items()], __file__)
