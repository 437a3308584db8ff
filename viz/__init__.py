"""Reports on a network: in words and numbers (`explain`), and in pictures (`draw`).

Nothing is imported here: each caller imports the module it needs, because Graphviz and networkx are slow to import.
"""

__all__: list[str] = []
