"""What is measured: each module has build(torch) -> step, and REPEATS where a step is many calls."""
