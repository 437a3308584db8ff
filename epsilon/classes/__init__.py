"""Class expressions of OWL 2: their form, the classes that an ontology puts below them, the triples that prove them."""
