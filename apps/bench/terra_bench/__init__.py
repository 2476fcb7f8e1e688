"""Benchmarks of Terra against a peer."""
