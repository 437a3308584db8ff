"""Filters: programs over a tuple's columns, and the interpreter that decides them."""
