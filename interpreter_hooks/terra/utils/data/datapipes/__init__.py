"""torch.utils.data.datapipes: datasets made of datasets, as chains of small steps: pipe.map(f).shuffle().batch(8)."""

from ...._names import lazily

__getattr__ = lazily(__name__, ("datapipe", "iter", "map"))
