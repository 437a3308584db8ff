"""The inspector: one page that shows a network while it runs, and lets triples in one by one.

Data's way: readers -> **controller** -> engine; engine -> **snapshots** -> server -> the page.
`controller` runs, pauses and steps an engine in one thread; `layout` places the network's nodes; `reading` decodes what
memories hold; `server` serves page and data on this machine only.  Nothing is imported here: the server's packages are
an extra.
"""

__all__: list[str] = []
