"""Reports on a network in words and numbers: plans, counts, shards."""
