"""When an item happened: by a nominal rate, by its arrival, or by what its graph says."""
