"""Memories: pages of rows under keys, facts, and the collection of what is over."""
