# interpreter: python3
# timeout: 3600
# long
"""The language itself: syntax, builtin types, classes, exceptions, and the modules that lean on them hardest."""

from _compare import compare

compare([
    "test_syntax", "test_genexps", "test_listcomps", "test_setcomps", "test_dictcomps", "test_contextlib_async",
    "test_named_expressions", "test_patma", "test_positional_only_arg", "test_keywordonlyarg", "test_unpack",
    "test_unpack_ex", "test_extcall", "test_call", "test_funcattrs", "test_descrtut", "test_metaclass", "test_abc",
    "test_subclassinit", "test_property", "test_dynamicclassattribute", "test_dynamic", "test_builtin", "test_bool",
    "test_int", "test_long", "test_float", "test_complex", "test_list", "test_tuple", "test_dict", "test_dictviews",
    "test_set", "test_unicode", "test_bytes", "test_slice", "test_range", "test_iter", "test_enumerate",
    "test_augassign", "test_binop", "test_compare", "test_richcmp", "test_contains", "test_operator", "test_index",
    "test_sort", "test_bisect", "test_heapq", "test_collections", "test_deque", "test_defaultdict",
    "test_ordered_dict", "test_userdict", "test_userlist", "test_weakset", "test_dataclasses", "test_enum",
    "test_functools", "test_itertools", "test_types", "test_typing", "test_typechecks", "test_isinstance",
    "test_compile", "test_peepholer", "test_opcodes", "test_exception_hierarchy", "test_exception_variations",
    "test_exception_group", "test_except_star", "test_baseexception", "test_global", "test_string_literals",
    "test_fstring", "test_threading_local", "test_finalization",
])
