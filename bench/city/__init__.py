"""CityBench's questions about a city's sensors: queries in its shape, data of a seeded generator, a peer beside it."""
