"""The engine: queries in, rows in, matches out; what runs, what is kept, what is reported."""
