"""terra.nn.functional: the operations that modules are made of.

Ops come from the engine's records. What is written here are argument forms that only this module has (inplace=, the old
size_average=), checks with messages of their own, and functions composed of several ops."""

from ..._names import lazily
from .. import _reduction as _Reduction  # noqa: F401
from .activation import *  # noqa: F401,F403
from .attention import *  # noqa: F401,F403
from .convolution import *  # noqa: F401,F403
from .distance import *  # noqa: F401,F403
from .dropout import *  # noqa: F401,F403
from .embedding import *  # noqa: F401,F403
from .grid import *  # noqa: F401,F403
from .linear import *  # noqa: F401,F403
from .loss import *  # noqa: F401,F403
from .margin_loss import *  # noqa: F401,F403
from .normalization import *  # noqa: F401,F403
from .padding import *  # noqa: F401,F403
from .pooling import *  # noqa: F401,F403
from .resizing import *  # noqa: F401,F403
from .shuffle import *  # noqa: F401,F403

__getattr__ = lazily(__name__)
