"""Builders of models by name, and the weights that may be asked of them.

There are no weights here: each builder knows the file in which PyTorch's users keep them, and reads that."""

import dataclasses
import enum
import fnmatch
import functools
import os
import sys
import warnings

from ... import hub
from ...serialization import load
from ..transforms._presets import ImageClassification, SemanticSegmentation
from ..transforms.functional import InterpolationMode
from ._weights_table import WEIGHTS

__all__ = [
    "Weights", "WeightsEnum", "get_model", "get_model_builder", "get_model_weights", "get_weight", "list_models",
    "register_model",
]  # fmt: skip

BUILTIN_MODELS = {}  # name -> builder
ADDRESS = "https://download.pytorch.org/models/"


class Meta(dict):
    """What is known about weights. The names of classes and the figures of their training are not."""

    def __missing__(self, key):
        raise KeyError(f"{key}: Terra keeps only {', '.join(map(repr, self))} of the facts about weights")


@dataclasses.dataclass(frozen=True, eq=False)
class Weights:
    """Where trained values are, how images are prepared for them, and facts about them."""

    url: str
    transforms: object
    meta: dict


class WeightsEnum(enum.Enum):
    """The weights that there are for one builder."""

    @classmethod
    def verify(cls, obj):
        """A member for a member, its name or "ResNet18_Weights.NAME"; None stays None."""
        if obj is None:
            return None
        if isinstance(obj, str):
            return cls[obj.replace(cls.__name__ + ".", "")]
        if isinstance(obj, cls):
            return obj
        raise TypeError(f"Invalid Weight class provided; expected {cls.__name__} but received {type(obj).__name__}.")

    @property
    def url(self):
        return self.value.url

    @property
    def transforms(self):
        return self.value.transforms

    @property
    def meta(self):
        return self.value.meta

    def get_state_dict(self, *args, **kwargs):
        """The values in the file that lies in the folder of torch.hub."""
        name = os.path.basename(self.url)
        path = os.path.join(hub.get_dir(), "checkpoints", name)
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"{self}: Terra brings no trained weights and fetches none. Put {name} (from {self.url}) into "
                f"{os.path.dirname(path)}, or build the model without weights (a backbone: weights_backbone=None) "
                "and call load_state_dict."
            )
        return load(path, map_location="cpu", weights_only=True)

    def __repr__(self):
        return f"{type(self).__name__}.{self._name_}"


def _preset(details):
    """How images are prepared: details of one row of the table."""
    details = dict(details)
    kind = SemanticSegmentation if details.pop("segmentation", False) else ImageClassification
    if "interpolation" in details:
        details["interpolation"] = InterpolationMode(details["interpolation"])
    return functools.partial(kind, **details)


def weights_enum(builder_name, module):
    """The enum of the weights of a builder, from its row of the table."""
    name, default, rows = WEIGHTS[builder_name]
    made = {}
    for entry, (file, parameters, smallest, classes, preset) in rows.items():
        meta = Meta(num_params=parameters, min_size=(smallest, smallest), num_classes=classes)
        made[entry] = Weights(ADDRESS + file, _preset(preset), meta)
    made["DEFAULT"] = made[default]
    return WeightsEnum(name, made, module=module)


def _asked(enumeration, given, weights, kwargs):
    """The member of the enum that a call asks for, or None; old forms of asking draw a warning."""
    if given:
        names = [f"'{name}'" for name in given]
        warnings.warn(
            f"Using {' and '.join(names)} as positional parameter(s) is deprecated since 0.13 and may be removed "
            f"in the "
            "future. Please use keyword parameter(s) instead.",
            stacklevel=3,
        )
        weights = given.get("weights", weights)
    if "pretrained" in kwargs:
        warnings.warn(
            "The parameter 'pretrained' is deprecated since 0.13 and may be removed in the future, "
            "please use 'weights' instead.",
            stacklevel=3,
        )
        weights = kwargs.pop("pretrained")
    if isinstance(weights, (bool, int)):
        first = next(iter(enumeration)) if weights else None
        warnings.warn(
            "Arguments other than a weight enum or `None` for 'weights' are deprecated since 0.13 and may be "
            "removed in "
            f"the future. The current behavior is equivalent to passing `weights={first}`.",
            stacklevel=3,
        )
        return first
    return enumeration.verify(weights)


def builder(function=None, *, prepare=None, renamed=None):
    """Makes a function from a model's arguments to the model a builder: it takes `weights` too, and is found by name.

    With weights, `prepare(weights, kwargs)` may change the arguments and give a function that is called with the model
    at the end; `renamed(key)` is the name in the model of a key in the file."""
    if function is None:
        return functools.partial(builder, prepare=prepare, renamed=renamed)
    enumeration = weights_enum(function.__name__, function.__module__)

    def build(*args, weights=None, progress=True, **kwargs):
        weights = _asked(enumeration, dict(zip(("weights", "progress"), args)), weights, kwargs)
        if weights is None:
            return function(**kwargs)
        classes = weights.meta["num_classes"]
        if kwargs.setdefault("num_classes", classes) != classes:
            raise ValueError(
                f"The parameter 'num_classes' expected value {classes} but got {kwargs['num_classes']} instead."
            )
        finish = prepare(weights, kwargs) if prepare else None
        values = weights.get_state_dict()
        model = function(**kwargs)
        model.load_state_dict({renamed(key): value for key, value in values.items()} if renamed else values)
        if finish:
            finish(model)
        return model

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(build, name, getattr(function, name))
    build.weights = enumeration
    setattr(sys.modules[function.__module__], enumeration.__name__, enumeration)
    return register_model()(build)


def register_model(name=None):
    """A decorator that makes a builder known to get_model under its own or the given name."""

    def register(function):
        key = name or function.__name__
        if key in BUILTIN_MODELS:
            raise ValueError(f"An entry is already registered under the name '{key}'.")
        BUILTIN_MODELS[key] = function
        return function

    return register


def all_weights():
    """{name: enum} of all builders."""
    return {builder.weights.__name__: builder.weights for builder in BUILTIN_MODELS.values()}


def get_model_builder(name):
    try:
        return BUILTIN_MODELS[name.lower()]
    except KeyError:
        raise ValueError(f"Unknown model {name}") from None


def get_model(name, **config):
    """The model of that name; the arguments are its builder's."""
    return get_model_builder(name)(**config)


def get_model_weights(name):
    """The enum of the weights of a builder or of its name."""
    return (name if callable(name) else get_model_builder(name)).weights


def get_weight(name):
    """The member that "ResNet18_Weights.IMAGENET1K_V1" names."""
    enumeration, dot, member = name.partition(".")
    if not dot:
        raise ValueError(f"Invalid weight name provided: '{name}'.")
    for function in BUILTIN_MODELS.values():
        weights = getattr(function, "weights", None)
        if weights is not None and weights.__name__ == enumeration:
            return weights[member]
    raise ValueError(f"The weight enum '{enumeration}' for the specific method couldn't be retrieved.")


def list_models(module=None, include=None, exclude=None):
    """Names of builders in order: those of one module, those like one of `include`, those like none of `exclude`."""
    names = {
        n for n, f in BUILTIN_MODELS.items() if module is None or f.__module__.rpartition(".")[0] == module.__name__
    }

    def like(patterns):
        patterns = [patterns] if isinstance(patterns, str) else patterns
        return {name for pattern in patterns for name in fnmatch.filter(names, pattern)}

    if include:
        names = like(include)
    return sorted(names - like(exclude) if exclude else names)
