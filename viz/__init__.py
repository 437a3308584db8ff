"""Pictures of a compiled network: a networkx graph (`graph`), DOT text (`dot`), SVG and PNG (`render`).

Nothing is imported here: a module of this part is imported by who draws, for Graphviz and networkx are slow to import.
"""

__all__: list[str] = []
