"""OBEP: events that an ontology defines, composed in time."""
