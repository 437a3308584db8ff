"""What a network says of itself in words and numbers: plans, counts, shards."""
