"""When an item happened: by a nominal rate, by its arrival, or by a statement about its graph."""
