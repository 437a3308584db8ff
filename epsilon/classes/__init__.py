"""Class expressions of OWL 2: what they are, which classes an ontology puts below them, and what triples prove them."""
