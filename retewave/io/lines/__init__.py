"""N-Triples and N-Quads, scanned by kernels."""
