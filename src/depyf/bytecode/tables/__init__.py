"""Opcode numbers, names, cache sizes and jump kinds: one generated module per CPython version."""
