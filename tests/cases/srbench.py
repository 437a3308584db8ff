"""What the published queries of SRBench have in common, in C-SPARQL."""

from __future__ import annotations

SENSORS = """PREFIX om-owl: <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
PREFIX weather: <http://knoesis.wright.edu/ssw/ont/weather.owl#>
PREFIX wgs84_pos: <http://www.w3.org/2003/01/geo/wgs84_pos#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
FROM = "FROM NAMED STREAM <http://www.cwi.nl/SRBench/observations>"
RAIN = "?o om-owl:procedure ?sensor ; a weather:RainfallObservation ; om-owl:result ?r . "
RESULT = "om-owl:result [om-owl:floatValue ?%s]"
