"""What a network says of itself: in words and numbers (`explain`), and in pictures (`draw`).

Nothing is imported here: a module of this part is imported by who asks, for Graphviz and networkx are slow to import.
"""

__all__: list[str] = []
