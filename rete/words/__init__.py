"""The kernel's arrays: the layout of every word, rows, bare words, and how kernels are compiled."""
