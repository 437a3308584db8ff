"""Sensors of a city and what they read: data in the shape of CityBench, drawn by a seeded generator.

Where it stands: before `engine` and `peer`, which are told the same readings and the same background.
Each stream is one sensor; a reading is one event: what kind it is, which property it observes, its value, and who
observed it.  A user's place is a value with a latitude and a longitude of its own.
Invariant: a seed makes the same readings on every machine.  Left out: units, the sensors' own time stamps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["BACKGROUND", "QUERIES", "SensorReading", "Triple", "background", "readings", "streams"]

Triple = tuple[str, str, str]  # N-Triples texts

QUERIES = Path(__file__).parent / "queries"
SERVICE = "http://www.insight-centre.org/dataset/SampleEventService#"
CITY = "http://www.insight-centre.org/citytraffic#"
SSN = "http://purl.oclc.org/NET/ssnx/ssn#"
SAO = "http://purl.oclc.org/NET/sao/"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD = "http://www.w3.org/2001/XMLSchema#"
BACKGROUND = ("SensorRepository", "AarhusCulturalEvents", "AarhusLibraryEvents")  # the files, without .ttl

_SENSORS = {  # a stream's name without its number -> the properties that it observes, with the greatest value
    "AarhusTrafficData": {"CongestionLevel": 100, "EstimatedTime": 900},
    "AarhusParkingData": {"ParkingVacancy": 8},
    "AarhusWeatherData": {"Temperature": 30, "Humidity": 100, "WindSpeed": 25},
    "AarhusPollutionData": {"AirPollutionIndex": 200},
}
_NAMED = (
    *("AarhusTrafficData182955", "AarhusTrafficData158505", "AarhusTrafficData186979"),
    *("AarhusParkingDataKALKVAERKSVEJ", "AarhusParkingDataSKOLEBAKKEN"),
    *("AarhusWeatherData0", "AarhusPollutionData201399", "AarhusPollutionData197626"),
)
_USER = "UserLocationService"


@dataclass(frozen=True)
class SensorReading:
    """What one sensor tells at one time."""

    time: int  # microseconds
    stream: str  # IRI
    triples: tuple[Triple, ...]  # one event


def streams(others: int = 0) -> list[str]:
    """Return the names of the streams: those that the queries name, and roads that none of them does."""
    return [*_NAMED, *(f"AarhusTrafficData9{number:05}" for number in range(others)), _USER]


def background(others: int = 0, events: int = 20, seed: int = 1) -> dict[str, list[Triple]]:
    """Return the background by the name of its file: where sensors stand and what they observe, and what goes on."""
    draw = np.random.default_rng(seed)
    sensors = [triple for name in streams(others) if name != _USER for triple in _sensor(name, draw)]
    rest = {name: [triple for n in range(events) for triple in _event(name, n, draw)] for name in BACKGROUND[1:]}
    return {BACKGROUND[0]: sensors} | rest


def _sensor(name: str, draw: np.random.Generator) -> Iterator[Triple]:
    place = f"<{SERVICE}{name}-place>"
    yield place, f"<{CITY}hasStartLatitude>", _decimal(draw.uniform(56, 56.5))
    yield place, f"<{CITY}hasStartLongitude>", _decimal(draw.uniform(10, 10.5))
    for kind in _observed(name):
        yield _property(name, kind), TYPE, f"<{CITY}{kind}>"
        yield _property(name, kind), f"<{SSN}isPropertyOf>", place


def _event(kind: str, number: int, draw: np.random.Generator) -> Iterator[Triple]:
    event, place, node = (f"<{SERVICE}{kind}{number}{part}>" for part in ("", "-place", "-node"))
    yield event, TYPE, f"<{SSN}Observation>"
    yield event, f"<{SSN}featureOfInterest>", place
    yield place, f"<{CITY}hasFirstNode>", node
    yield node, f"<{CITY}hasLatitude>", _decimal(draw.uniform(56, 56.5))
    yield node, f"<{CITY}hasLongitude>", _decimal(draw.uniform(10, 10.5))
    yield event, f"<{SAO}value>", f'"{kind} {number}"'


def readings(seconds: int, rate: int = 1, others: int = 0, seed: int = 1) -> Iterator[SensorReading]:
    """Yield what the sensors read, in the order of time: each of them so many times a second.

    >>> first = next(readings(1))
    >>> first.time, len(first.triples)
    (0, 8)
    """
    draw = np.random.default_rng(seed)
    names = streams(others)
    for turn in range(seconds * rate):
        for place, name in enumerate(names):
            at = (turn * 1_000_000 + place * 1_000_000 // len(names)) // rate
            found = _position(turn, draw) if name == _USER else _observations(name, turn, draw)
            yield SensorReading(at, f"{SERVICE}{name}", tuple(found))


def _observations(name: str, turn: int, draw: np.random.Generator) -> Iterator[Triple]:
    for kind, most in _observed(name).items():
        value = f'"{draw.integers(0, most)}"^^<{_XSD}integer>'
        yield from _observation(name, f"{kind}-{turn}", f"{value}")
        yield _reading(name, f"{kind}-{turn}"), f"<{SSN}observedProperty>", _property(name, kind)


def _position(turn: int, draw: np.random.Generator) -> Iterator[Triple]:
    place = f"<{SERVICE}{_USER}-place-{turn}>"
    yield from _observation(_USER, str(turn), place)
    yield place, f"<{CITY}hasLatitude>", _decimal(draw.uniform(56, 56.5))
    yield place, f"<{CITY}hasLongitude>", _decimal(draw.uniform(10, 10.5))


def _observation(name: str, label: str, value: str) -> Iterator[Triple]:
    reading = _reading(name, label)
    yield reading, TYPE, f"<{SSN}Observation>"
    yield reading, f"<{SAO}hasValue>", value
    yield reading, f"<{SSN}observedBy>", f"<{SERVICE}{name}>"


def _observed(name: str) -> dict[str, int]:
    return next(kinds for sensor, kinds in _SENSORS.items() if name.startswith(sensor))


def _property(name: str, kind: str) -> str:
    return f"<{SERVICE}{name}-{kind}>"


def _reading(name: str, label: str) -> str:
    return f"<{SERVICE}{name}-reading-{label}>"


def _decimal(value: float) -> str:
    return f'"{value:.4f}"^^<{_XSD}decimal>'
