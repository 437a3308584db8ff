"""Sources: RDF in any format, from anywhere, as rows."""

from retewave.io.reading.reader import GENERATED_AT, Chunk, Counters, Reader, read, read_static

__all__ = ["GENERATED_AT", "Chunk", "Counters", "Reader", "read", "read_static"]
