"""Pictures of a network: a networkx graph (`graph`), DOT text (`dot`), SVG and PNG (`render`)."""
