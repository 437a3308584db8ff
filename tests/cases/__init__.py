"""What property tests draw: queries, streams, schemas, shards."""
