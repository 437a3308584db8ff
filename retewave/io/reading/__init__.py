"""Sources of RDF: where bytes come from, which format they are in, and the reader that makes rows of them."""
