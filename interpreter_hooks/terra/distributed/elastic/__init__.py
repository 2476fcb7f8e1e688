"""torch.distributed.elastic: what scripts take of it that are made for a launcher."""
