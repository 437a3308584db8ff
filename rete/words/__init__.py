"""What the kernel's arrays are made of: the layout of every word, rows, bare words, and how kernels are compiled."""
