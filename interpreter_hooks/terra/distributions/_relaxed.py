"""What the relaxed distributions show of the one that they transform."""

from .transformed_distribution import TransformedDistribution


class Relaxed(TransformedDistribution):
    has_rsample = True

    @property
    def temperature(self):
        return self.base_dist.temperature

    @property
    def logits(self):
        return self.base_dist.logits

    @property
    def probs(self):
        return self.base_dist.probs
