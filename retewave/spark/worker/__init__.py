"""What runs in the workers: routing, shards and their state, matches on their way out."""
