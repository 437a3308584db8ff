"""Spark sessions that retewave can run in: what must be installed, and which settings matter.

Where it stands: before everything else on the driver.
Invariant: a missing program is reported, with its package, before a JVM is started; a session that the user made keeps
its own settings unless Spark would refuse the query with them.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from retewave.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_installed", "configure", "session"]

OLDEST_JAVA = 17
INSTALL = "pip install 'retewave[spark]'"
OLDEST = {"pyspark": "4.2", "protobuf": "6.33.5", "pandas": "2.2", "pyarrow": "18"}  # as pyproject.toml has them

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PARTITIONS = "spark.sql.shuffle.partitions"
_PARTITIONS_UNSET = "200"  # Spark's default

# The settings of a session of ours; the numbers behind the choices are in bench/NOTES.md.
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    _PROVIDER: _ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",  # nobody else is to connect
    "spark.driver.host": "127.0.0.1",
}


def session(
    master: str | None = None,
    *,
    shards: int | None = None,
    name: str = "retewave",
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a session set up for retewave: a new one on `master`, or the one that spark-submit prepared.

    `settings` are further Spark settings, which win.
    """
    check_installed()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers start as `python3` from PATH otherwise
    from pyspark.sql import SparkSession

    wanted = dict(_SETTINGS)
    if shards is not None:
        wanted[_PARTITIONS] = str(shards)
    if master is not None:
        wanted |= {"spark.master": master}
        if master.startswith("local"):
            wanted |= _LOCAL
    builder = SparkSession.builder.appName(name)
    for key, value in (wanted | dict(settings or {})).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def configure(spark: SparkSession, shards: int) -> None:
    """Set what retewave needs in a session that is already running; queries that are started later are concerned.

    Matching needs the RocksDB state store.  A shard is best alone in its partition, so the number of shuffle
    partitions becomes the number of shards unless the user has chosen one.
    """
    if spark.conf.get(_PROVIDER) != _ROCKSDB:
        spark.conf.set(_PROVIDER, _ROCKSDB)
    partitions = spark.conf.get(_PARTITIONS)
    if partitions == _PARTITIONS_UNSET:
        spark.conf.set(_PARTITIONS, str(shards))
    elif partitions != str(shards):
        warnings.warn(
            f"{_PARTITIONS} is {partitions} and there are {shards} shards: make them equal, so that every partition "
            "has one shard",
            stacklevel=3,
        )


def check_installed() -> None:
    """Raise UsageError if something that Spark needs is not installed."""
    for package, oldest in OLDEST.items():
        try:
            found = version(package)
        except PackageNotFoundError as error:
            raise UsageError(f"retewave on Spark needs {package}, which is not installed", hint=INSTALL) from error
        if _numbers(found) < _numbers(oldest):
            raise UsageError(f"Spark works with {package} from {oldest} on, and {found} is installed", hint=INSTALL)
        if package == "pandas" and int(found.split(".")[0]) >= 3:
            raise UsageError(f"Spark works with pandas below 3, and {found} is installed", hint=INSTALL)
    _check_java()


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without what stands behind them.

    >>> _numbers("6.33.5"), _numbers("4.2.0.dev1") < _numbers("4.10")
    ((6, 33, 5), True)
    """
    parts = itertools.takewhile(str.isdecimal, version.split("."))
    return tuple(int(part) for part in parts)


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    hint = f"install Java {OLDEST_JAVA} or newer (such as openjdk-{OLDEST_JAVA}-jre-headless), or set JAVA_HOME to it"
    if java is None:
        place = f"JAVA_HOME is {home}, which has none" if home else "there is none on the PATH"
        raise UsageError(f"Spark needs Java, and {place}", hint=hint)
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = _java_version(printed)
    if found is not None and found < OLDEST_JAVA:
        raise UsageError(f"Spark needs Java {OLDEST_JAVA} or newer, and {java} is Java {found}", hint=hint)


def _java_version(printed: str) -> int | None:
    """Return the version that `java -version` prints, if it can be read.

    >>> _java_version('openjdk version "17.0.15" 2025-04-15'), _java_version('java version "1.8.0_402"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(found[1]) if found else None
