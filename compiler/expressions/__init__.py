"""Expressions: their tree, how operators and functions compute, and the parts that the kernel decides."""
