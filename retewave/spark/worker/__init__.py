"""The workers' side: routing, shards and their state, matches on their way out."""
