"""Expressions: their tree, how a language's operators and functions compute, and what the kernel decides of them."""
