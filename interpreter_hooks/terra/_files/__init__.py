"""PyTorch's file format: a zip archive of a pickle and the raw bytes of each storage."""
