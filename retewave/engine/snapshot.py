"""Snapshots: all state of an engine in one file, from which another process goes on as if it had never stopped.

A file is a magic word, the length and digest of a header, the header (JSON: format, queries, schema, a digest of the
body, where each array stands), and the arrays.  Nothing is pickled.  It is written beside its place, synced and
renamed, so that a crash leaves the old snapshot or the new one, never half of one.
The matches that queries keep for `to_arrow` are not part of it; how many there were is.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta, timezone, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zoneinfo import ZoneInfo

import numpy as np

from retewave.compiler.algebra import Query as Parsed
from retewave.compiler.parse import parse
from retewave.engine import image
from retewave.engine.arguments import policy_of
from retewave.engine.framing import phased, report_of
from retewave.epsilon.axioms import Axiom, Kind
from retewave.epsilon.schema import Schema
from retewave.epsilon.vocabulary import Triple
from retewave.errors import SnapshotError, UsageError
from retewave.io.reading.position import Position
from retewave.log import log
from retewave.numbering import batches, documents
from retewave.windows.times import Clock

try:
    import fcntl
except ImportError:  # Windows: a killed process leaves its file
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from retewave.engine.engine import Engine

__all__ = ["FORMAT", "note_of", "read", "write"]

FORMAT = 16  # grows when the meaning of the file changes
MAGIC = b"retewave snapshot\n"
ALIGNED = 64  # bytes that an array's place is a multiple of


# ---- writing ----
def write(engine: Engine, path: Path, note: Any = None) -> None:
    """Write a snapshot of an engine."""
    with engine.turn, engine.lock:  # all matches found so far have been told; the rest is done while others go on
        engine.matcher.current()  # new queries join in before
        with engine.matcher.sweeps.standing_still():
            places, body = _laid_out(_arrays(engine))
            described = _header(engine)
    described |= {"arrays": places, "body": _digest(body), "note": note}
    try:
        header = json.dumps(described, sort_keys=True).encode()
    except TypeError as e:
        raise UsageError(f"the note of a snapshot is not JSON: {e}") from e
    head = MAGIC + len(header).to_bytes(8, "little") + hashlib.sha256(header).digest()
    if path.exists() and not path.is_file():
        raise SnapshotError(f"cannot write the snapshot {path}: it is no file")
    try:
        _put_in_place(path, [head + header, *body])
    except OSError as e:
        raise SnapshotError(f"cannot write the snapshot {path}: {e.strerror or e}") from e


def _put_in_place(path: Path, parts: Sequence[bytes]) -> None:
    """Write a file beside its place, and move it there when it is whole."""
    _drop_remains(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            _lock(file)
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
            Path(temporary).replace(path)
        _sync_folder(path.parent)
        log.info("snapshot written: %s, %d bytes", path, path.stat().st_size)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Bring the folder to the disk, too: the new file has the name."""
    if os.name == "nt":
        return  # a folder cannot be opened there
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _drop_remains(path: Path) -> None:
    """Delete the files that killed snapshots have left: their locks went with their processes."""
    for part in path.parent.glob(f"{glob.escape(path.name)}.????????.part"):
        with suppress(OSError), part.open("rb+") as file:  # it may be gone, or being written
            if fcntl is not None:
                _lock(file)
                part.unlink()


def _lock(file: BinaryIO) -> None:
    """Hold a file until it is closed; raise OSError if another process holds it."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _arrays(engine: Engine) -> dict[str, np.ndarray]:
    arrays = image.arrays(engine) | {f"order.{name}": array for name, array in engine.order.state().items()}
    for place, position in enumerate(engine.positions):
        arrays |= {f"reader.{place}.{name}": array for name, array in position.arrays().items()}
    return arrays


def _laid_out(arrays: Mapping[str, np.ndarray]) -> tuple[list[dict[str, Any]], list[bytes]]:
    """Return where each array stands in the body, and the body in pieces."""
    places, body, offset = [], [], 0
    for name, array in sorted(arrays.items()):
        data = np.ascontiguousarray(array).tobytes()
        places.append({"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "offset": offset})
        padding = -len(data) % ALIGNED
        body += [data, bytes(padding)]
        offset += len(data) + padding
    return places, body


def _digest(body: list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in body:
        digest.update(part)
    return digest.hexdigest()


def _header(engine: Engine) -> dict[str, Any]:
    matcher, registry = engine.matcher, engine.registry
    schema = engine.datasets.schema
    return {
        "format": FORMAT,
        "byteorder": "little",
        "fingerprint": image.fingerprint(matcher.current()),
        "options": engine.options,
        "queries": [
            {
                "number": query.number, "name": query.name, "text": query.parsed.text, "source": query.parsed.source,
                "language": query.parsed.language, "matched": query.matched, "explained": query.explained,
                "policy": str(query.parsed.policy), "by_deadline": query.by_deadline,
                "inconsistent": query.inconsistent, **_frame_data(query.parsed),
            }
            for query in registry.queries.values()
        ],
        "queries_digest": hashlib.sha256("\0".join(q.text for q in registry.queries.values()).encode()).hexdigest(),
        "streams": registry.streams,
        "schema": [_axiom_data(axiom) for axiom in schema.axioms],
        "schema_digest": schema.digest,
        "ontology": [[text.decode() for text in triple] for triple in _ontology(engine)],
        "files": sorted(engine.datasets.named),
        "clock": None if engine.clock is None else _clock_data(engine.clock),
        "readers": [position.header() for position in engine.positions],
        "numbers": {"documents": documents.last, "batches": batches.last},
        "counts": image.counts(engine),
    }  # fmt: skip


def _frame_data(parsed: Parsed) -> dict[str, Any]:
    """Return what may have been said of a view beside its text."""
    return {} if parsed.view is None else {"report": str(parsed.view.reporting), "t0": parsed.view.t0}


def _framed(parsed: Parsed, data: Mapping[str, Any]) -> Parsed:
    """Return a query as it was registered."""
    if parsed.view is None:
        return parsed
    view = parsed.view if data["t0"] is None else phased(parsed.view, data["t0"])
    return replace(parsed, view=replace(view, reporting=report_of(data["report"])))


def _ontology(engine: Engine) -> tuple[Triple, ...]:
    """Return what an ontology says, for queries that define events by it."""
    defines = any(query.plan is not None for query in engine.registry.queries.values())
    return engine.datasets.schema.ontology if defines else ()


def _axiom_data(axiom: Axiom) -> list[str | None]:
    texts = (axiom.subject, axiom.object, axiom.property)
    return [axiom.kind.name, *(None if text is None else text.decode() for text in texts)]


def _clock_data(clock: Clock) -> dict[str, Any]:
    zone: str | int | None = None
    if isinstance(clock.zone, ZoneInfo):
        zone = clock.zone.key
    elif clock.zone is not None:
        offset = clock.zone.utcoffset(None)
        zone = 0 if offset is None else int(offset.total_seconds())
    return {"kind": clock.kind, "zone": zone, "unit": clock.unit}


def _clock(data: Mapping[str, Any]) -> Clock:
    zone: tzinfo | None = None
    if isinstance(data["zone"], str):
        zone = ZoneInfo(data["zone"])
    elif data["zone"] is not None:
        zone = timezone(timedelta(seconds=data["zone"]))
    return Clock(data["kind"], zone=zone, unit=data["unit"])


# ---- reading ----
def read(engine_type: type[Engine], path: Path, keep: int | None, options: Mapping[str, Any]) -> Engine:
    """Return an engine that goes on where a snapshot was taken."""
    if fixed := options.keys() & {"schema", "static", "closure", "seed"}:
        raise UsageError(f"a snapshot has its own {', '.join(sorted(fixed))}", hint="restore it without, then `load`")
    header, arrays = _parsed(path)
    engine = engine_type(**(header["options"] | dict(options)))
    image.put_terms(engine, arrays)
    engine.datasets.put(_schema(header), arrays["static"], header["files"])
    registry = engine.registry
    registry.streams.update(header["streams"])
    for each in header["queries"]:
        parsed = parse(each["text"], source=each["source"], language=each["language"])
        query = registry.add(
            _framed(replace(parsed, policy=policy_of(each["policy"])), each),
            name=each["name"],
            on_match=None,
            keep=keep,
            allow_cartesian=True,
            explained=each["explained"],
            number=each["number"],
            quiet=True,
        )
        query.matched, query.by_deadline = each["matched"], each["by_deadline"]
        query.inconsistent = each.get("inconsistent", 0)
    _put_network(engine, header, arrays, path)
    engine.put_order(image.part_of(arrays, "order."))
    engine.clock = None if header["clock"] is None else _clock(header["clock"])
    engine.note = header["note"]
    _put_positions(engine, header, arrays)
    log.info("snapshot restored: %s, at %d triples", path, engine.triples)
    return engine


def note_of(path: Path) -> Any:
    """Return the note in a snapshot, without restoring the engine."""
    return _parsed(path)[0]["note"]


def _put_positions(engine: Engine, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    documents.pass_by(header["numbers"]["documents"])
    batches.pass_by(header["numbers"]["batches"])
    positions = tuple(
        Position.of(each, image.part_of(arrays, f"reader.{place}."), engine.terms)
        for place, each in enumerate(header["readers"])
    )
    engine.matcher.positions = lambda: positions


def _parsed(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read and check a file."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise SnapshotError(f"cannot read the snapshot {path}: {e.strerror}") from e
    start = len(MAGIC)
    if data[:start] != MAGIC:
        raise SnapshotError(f"{path} is not a snapshot of retewave", hint="engine.snapshot(path) writes one")
    size = int.from_bytes(data[start : start + 8], "little")
    begin = start + 8 + 32
    raw = data[begin : begin + size]
    if len(raw) < size or hashlib.sha256(raw).digest() != data[start + 8 : begin]:
        raise SnapshotError(f"{path} is truncated or damaged: its header does not have its digest")
    header = json.loads(raw)
    if header["format"] != FORMAT:
        raise SnapshotError(
            f"{path} has the format {header['format']}, this version reads {FORMAT}",
            hint="restore it with the version that wrote it",
        )
    body = memoryview(data)[begin + size :]
    if hashlib.sha256(body).hexdigest() != header["body"]:
        raise SnapshotError(f"{path} is truncated or damaged: its arrays do not have their digest")
    return header, {place["name"]: _array(body, place) for place in header["arrays"]}


def _array(body: memoryview, place: Mapping[str, Any]) -> np.ndarray:
    dtype, shape = np.dtype(place["dtype"]), tuple(place["shape"])
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(body, dtype, count, place["offset"]).reshape(shape).copy()


def _schema(header: Mapping[str, Any]) -> Schema:
    def text(of: str | None) -> bytes | None:
        return None if of is None else of.encode()

    axioms = tuple(
        Axiom(Kind[kind], subject.encode(), object_.encode(), text(property_))
        for kind, subject, object_, property_ in header["schema"]
    )
    ontology = tuple((s.encode(), p.encode(), o.encode()) for s, p, o in header["ontology"])
    schema = Schema(axioms, ontology=ontology)
    if schema.digest != header["schema_digest"]:
        raise SnapshotError("the snapshot's schema does not have its digest")
    return schema


def _put_network(engine: Engine, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], path: Path) -> None:
    if not image.put_network(engine, arrays, header["counts"], header["fingerprint"]):
        raise SnapshotError(
            f"{path}: this version plans the queries in another way than the one that wrote it",
            hint="restore it with the version that wrote it",
        )
