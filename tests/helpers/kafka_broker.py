"""A Kafka broker of one node, and Spark's connector: jars from Maven Central, kept outside of the project.

The jars are fetched once, by the Ivy that pyspark brings, into a folder of the user's caches.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from helpers.spark_faults import Life, life, until

__all__ = ["Unreachable", "broker", "broker_jars", "connector_jars", "producer"]

HOST = "127.0.0.1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "retewave-tests"
JARS = Path(pyspark.__file__).parent / "jars"
_NOT_THERE = ("UNRESOLVED DEPENDENCIES", "FAILED DOWNLOADS")  # how Ivy heads its list of what it could not get


class Unreachable(Exception):
    """Maven Central cannot be reached, or has not what is asked for."""


@dataclass(frozen=True)
class Wanted:
    """Jars that belong together."""

    name: str  # of their folder
    artifacts: tuple[str, ...]  # organisation:name:version; what they need is fetched with them
    overrides: Mapping[str, str] = field(default_factory=dict)  # organisation:name -> version
    excluded: tuple[str, ...] = ()  # organisations whose jars are there already

    def described(self) -> str:
        """Return what Ivy is told."""
        parts = [artifact.split(":") for artifact in self.artifacts]
        lines = [f'<dependency org="{org}" name="{name}" rev="{rev}" conf="default"/>' for org, name, rev in parts]
        lines += [f'<exclude org="{org}"/>' for org in self.excluded]
        for place, rev in self.overrides.items():
            org, name = place.split(":")
            lines.append(f'<override org="{org}" module="{name}" rev="{rev}"/>')
        head = '<info organisation="retewave" module="tests"/><configurations><conf name="default"/></configurations>'
        return f'<ivy-module version="2.0">{head}<dependencies>{"".join(lines)}</dependencies></ivy-module>'


_BROKER = Wanted(
    "broker-3.9.1",
    ("org.apache.kafka:kafka_2.13:3.9.1", "ch.qos.reload4j:reload4j:1.2.25", "org.slf4j:slf4j-reload4j:1.7.36"),
)


def _connector(version: str, tokens: str) -> Wanted:
    """Return Spark's connector of one version, with the provider of tokens of one that may be another."""
    return Wanted(
        f"connector-{version}-{tokens}",
        (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version}",),
        {"org.apache.spark:spark-token-provider-kafka-0-10_2.13": tokens},
        ("org.scala-lang", "org.apache.hadoop", "org.slf4j", "org.lz4", "at.yawk.lz4", "org.xerial.snappy"),
    )


# Not every mirror of Maven Central has the connector of the newest Spark; a neighbour's works as well.
_CONNECTORS = (_connector(pyspark.__version__, pyspark.__version__), _connector("4.2.0", "4.0.0"))


def broker_jars() -> list[Path]:
    """Return the jars of a broker."""
    return _fetched(_BROKER)


def connector_jars() -> list[Path]:
    """Return the jars of a connector, best of Spark's own version."""
    for wanted in _CONNECTORS:
        if (CACHE / wanted.name).exists():
            return _fetched(wanted)
    reasons = []
    for wanted in _CONNECTORS:
        try:
            return _fetched(wanted)
        except Unreachable as error:
            reasons.append(str(error))
    raise Unreachable("; ".join(reasons))


def _fetched(wanted: Wanted) -> list[Path]:
    """Return jars that were fetched before, or fetch them."""
    kept = CACHE / wanted.name
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            _fetch(wanted, Path(folder))
            Path(folder, "jars").rename(kept)
    return sorted(kept.glob("*.jar"))


def _fetch(wanted: Wanted, folder: Path) -> None:
    (ivy,) = JARS.glob("ivy-*.jar")
    description = folder / "ivy.xml"
    description.write_text(wanted.described())
    pattern = f"{folder}/jars/[artifact]-[revision](-[classifier]).[ext]"
    command = ["java", "-jar", str(ivy), "-cache", str(CACHE / "ivy"), "-ivy", str(description), "-retrieve", pattern]
    done = subprocess.run([*command, "-types", "jar", "bundle"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    missing = [line.strip(": \t") for line in done.stdout.splitlines() if line.strip().endswith(": not found")]
    if any(words in done.stdout for words in _NOT_THERE):
        raise Unreachable(f"Maven Central does not give {', '.join(sorted(set(missing))) or wanted.name}")
    raise RuntimeError(f"Ivy has failed:\n{done.stdout}\n{done.stderr}")


# ---- the broker ----
@contextmanager
def broker(jars: Sequence[Path], folder: Path) -> Iterator[str]:
    """Run a broker; give its address."""
    folder.mkdir()
    port, control = _free_ports(2)
    settings = folder / "server.properties"
    settings.write_text(_settings(folder, port, control))
    (folder / "log4j.properties").write_text(_LOGGING)
    java = ["java", "-Xmx256m", f"-Dlog4j.configuration=file:{folder}/log4j.properties", "-cp", _path(jars)]
    cluster = ["-t", "cmV0ZXdhdmUtdGVzdHMtMQ"]  # any 16 bytes
    formatted = subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", *cluster, "-c", str(settings)], capture_output=True, text=True
    )
    assert formatted.returncode == 0, formatted.stdout + formatted.stderr
    with life([*java, "kafka.Kafka", str(settings)], folder / "log") as run:
        _accepts(run, port)
        yield f"{HOST}:{port}"


_LOGGING = """log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%p %c %m%n
"""


def _settings(folder: Path, port: int, control: int) -> str:
    """Return the settings of a node that is broker and controller."""
    lines = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{HOST}:{control}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{control}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": folder / "data",
        "log.retention.ms": -1,  # the messages have times of their own, which may be long past
        "num.partitions": 2,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
    }
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody uses."""
    with closing(socket.socket()) as one, closing(socket.socket()) as other:
        sockets = [one, other][:count]
        for each in sockets:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]


def _accepts(run: Life, port: int) -> None:
    """Wait until a server accepts connections."""
    for _ in until("the broker does not listen"):
        assert run.ended is None, run.told()
        with closing(socket.socket()) as trial:
            if trial.connect_ex((HOST, port)) == 0:
                return


def _path(jars: Sequence[Path]) -> str:
    return os.pathsep.join(str(jar) for jar in jars)


# ---- messages ----
Send = Callable[[str, int, int, str], None]  # a message: topic, partition, milliseconds, text


@contextmanager
def producer(jars: Sequence[Path], address: str) -> Iterator[Send]:
    """Give what sends messages with times of their own; they have arrived when the context ends."""
    (bridge,) = JARS.glob("py4j-*.jar")
    port, process = launch_gateway(
        jarpath=str(bridge), classpath=_path(jars), die_on_exit=True, return_proc=True, java_path=shutil.which("java")
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    try:
        yield from _sending(gateway, address)
    finally:
        gateway.shutdown()
        process.kill()
        process.wait()


def _sending(gateway: JavaGateway, address: str) -> Iterator[Send]:
    settings = gateway.jvm.java.util.Properties()
    for name in ("key.serializer", "value.serializer"):
        settings.put(name, "org.apache.kafka.common.serialization.StringSerializer")
    settings.put("bootstrap.servers", address)
    messages = gateway.jvm.org.apache.kafka.clients.producer
    sender = messages.KafkaProducer(settings)

    def send(topic: str, partition: int, millis: int, text: str) -> None:
        sender.send(messages.ProducerRecord(topic, partition, millis, None, text))

    yield send
    sender.flush()
    sender.close()
