"""Matches as the formats of results write them: bytes, from the dictionary's bytes."""
