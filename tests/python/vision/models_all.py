# run: --torch
# long
# timeout: 1800
"""The models that models.py leaves out."""

import warnings

from _tables import check
from models import NAMES, lines
from torchvision import models

warnings.simplefilter("ignore")
HUGE = ("regnet_y_128gf", "vit_h_14", "vit_l_16", "vit_l_32")  # 1.2 to 2.5 GB of parameters each

names = [name for name in models.list_models(models) if name not in NAMES and name not in HUGE]
check([*lines({name: models.get_model_builder(name) for name in names})], __file__)
