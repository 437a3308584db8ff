"""The image of a shard's network as bytes, for its store.

Data's way: engine -> image (`retewave/engine/image.py`) -> **bytes** -> the store -> an engine in another process.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from retewave.engine import image
from retewave.engine.engine import Engine
from retewave.spark.driver.job import Image

__all__ = ["read", "taken"]

_CODEC = "zstd"  # an arena is mostly small numbers in wide words
_SIZE = 8  # bytes of a length


def taken(engine: Engine) -> bytes:
    """Return the image of an engine between two pours."""
    engine.matcher.sweeps.leave()
    arrays = {name: np.ascontiguousarray(array) for name, array in image.arrays(engine).items()}
    header = {
        "fingerprint": image.fingerprint(engine.matcher.current()),
        "counts": image.counts(engine),
        "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
    }
    body = b"".join(array.tobytes() for array in arrays.values())
    head = json.dumps(header, separators=(",", ":")).encode()
    packed: bytes = pa.compress(body, codec=_CODEC, asbytes=True)
    return len(head).to_bytes(_SIZE, "little") + len(body).to_bytes(_SIZE, "little") + head + packed


def read(data: bytes) -> Image:
    """Return the image that bytes hold."""
    head, size = (int.from_bytes(data[place : place + _SIZE], "little") for place in (0, _SIZE))
    begin = 2 * _SIZE + head
    header = json.loads(data[2 * _SIZE : begin])
    body = pa.decompress(data[begin:], size, codec=_CODEC, asbytes=True)
    arrays, at = {}, 0
    for name, kind, shape in header["arrays"]:
        array, at = _array(body, at, kind, shape)
        arrays[name] = array
    return Image(arrays, header["counts"], header["fingerprint"])


def _array(body: bytes, at: int, kind: str, shape: list[int]) -> tuple[np.ndarray[Any, Any], int]:
    """Return an array, as its reader's own, and where the next one begins."""
    count = int(np.prod(shape, dtype=np.int64))
    array = np.frombuffer(body, np.dtype(kind), count, at).reshape(shape).copy()
    return array, at + array.nbytes
