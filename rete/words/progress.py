"""Where the kernel is: the words that tell it how to go on, and its caller what has happened.

Who writes what when: see `rete/kernel.py`, `rete/deciding.py`, `rete/edges.py` and `rete/runtime.py`.
"""

from __future__ import annotations

# where the kernel is: the next row, the stack's top, the group that is yet to be combined (0: none), whether the rows
# are facts (tuples of an α) and not input rows, …
P_ROW, P_LAST_ROW, P_TOP, P_GROUP, P_COUNT, P_MOST, P_FACTS = 0, 1, 2, 3, 4, 5, 6
P_MARKS, P_MARKED = 7, 8  # address and number of the marks of terms, which rows that come have to set
P_UNTIL = 9  # what is due before this time is decided now
# a filter or condition that Python is asked for: its edge or probe, the row that the condition looks at, the verdict
P_ASKED, P_ASKED_ROW, P_VERDICT = 10, 11, 12
P_DECIDING, P_TIME = 13, 14  # the probe that decides on the tuple above the stack's top, and when that is
P_BUILDING = 15  # output rows of which Python has yet to build what rules feed
# a step that stopped at P_ASKED_ROW (0: none did), the row before that in its list, the top of what it has written
P_STEPPING, P_STEP_BEFORE, P_STEP_TOP = 16, 17, 18
P_ROWS = 19  # the address of the rows that are poured
P_WIDTH = 20
