"""The query languages: one folder each, one record each, one algebra for all."""
