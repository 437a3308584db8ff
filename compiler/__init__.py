"""From the text of a query to the plan of a network.

Data's way: text -> parse tree (`reading`) -> algebra (`parse`, `algebra`) -> branches (`normal`) -> plan (`plan`).
Filters go two ways: to the kernel as far as it can decide them (`kernel`), to Python for the rest
(`evaluate`).  Nothing is imported here: whoever only reads a query needs neither numba nor rdflib.
"""
