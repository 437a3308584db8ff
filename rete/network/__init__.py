"""A network as records, and as the array that the kernel reads."""
