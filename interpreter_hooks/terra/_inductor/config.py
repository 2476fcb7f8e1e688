"""torch._inductor.config: what is set is kept, and changes nothing."""

coordinate_descent_tuning = False
epilogue_fusion = True
max_autotune = False
fx_graph_cache = True
freezing = False
cpp_wrapper = False
