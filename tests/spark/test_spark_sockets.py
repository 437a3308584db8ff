"""A socket: Spark's own source for it, lines that carry their times, and plain PySpark that takes them apart."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from helpers.spark_faults import Found, key, moment, until, workload

import retewave.spark as rs

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

HOST = "127.0.0.1"


@contextmanager
def serving(pieces: Sequence[bytes]) -> Iterator[tuple[int, threading.Semaphore]]:
    """Serve the first client on a port: a piece whenever the semaphore is released."""
    due, over = threading.Semaphore(0), threading.Event()

    def serve(server: socket.socket) -> None:
        client, _ = server.accept()
        with client:
            for piece in pieces:
                due.acquire()
                client.sendall(piece)
            over.wait()  # Spark's source takes the end of a connection for a failure

    with socket.create_server((HOST, 0)) as server:
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1], due
        finally:
            over.set()
            for _ in pieces:
                due.release()
            thread.join(10)


def test_lines_of_a_socket_match_as_they_do_in_the_embedded_engine(spark: SparkSession, tmp_path: Path) -> None:
    work = workload(tmp_path / "work", 400)
    lines = work.stream.read_text().splitlines()
    timed = [f"{1000 * moment(place).timestamp():.0f} {line}\n".encode() for place, line in enumerate(lines)]
    pieces = [b"".join(timed[:100]), b"".join(timed[100:700]), b"".join(timed[700:])]
    with serving(pieces) as (port, due):
        came = spark.readStream.format("socket").option("host", HOST).option("port", port).load()
        triples = came.selectExpr(
            "timestamp_millis(cast(substring_index(value, ' ', 1) as bigint)) as timestamp",
            "substring(value, instr(value, ' ') + 1) as value",
        )
        matches = rs.match(triples, work.queries, schema=work.schema, shards=2, watermark="0 seconds")
        query = matches.writeStream.format("memory").queryName("socket").start()
        try:
            for size in (100, 700, len(lines)):
                due.release()
                _comes(query, size)
            query.processAllAvailable()
            rows = spark.sql("select *, unix_micros(start) as began, unix_micros(end) as ended from socket").collect()
        finally:
            query.stop()
    assert Found(_match(row) for row in rows) == work.expected


def _comes(query: StreamingQuery, lines: int) -> None:
    """Wait until a query has taken so many lines."""
    for _ in until(f"{lines} lines did not come", pause=0.1):
        assert query.isActive, query.exception()
        if sum(progress.numInputRows for progress in query.recentProgress) >= lines:
            return


def _match(row: Row) -> tuple:
    bound = {name: row[name] for name in ("o", "c", "k", "s", "p") if row[name] is not None}
    return key(row["query"], _offset(row["began"]), _offset(row["ended"]), bound)


def _offset(micros: int) -> float:
    """Return seconds from the stream's beginning on."""
    return (micros - round(1e6 * moment(0).timestamp())) / 1e6
