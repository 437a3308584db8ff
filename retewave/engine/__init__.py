"""The engine: queries and rows in, matches out; running networks, their state, and reports."""
