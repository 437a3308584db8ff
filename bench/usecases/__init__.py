"""The six use cases of the SPAseq paper (section 2): their queries, and seeded streams in the shape that it describes.

The queries are files in `examples/spaseq`; `python -m retewave.bench.usecases.streams FOLDER` writes streams.
"""

__all__: list[str] = []
