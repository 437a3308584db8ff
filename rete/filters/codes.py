"""The instructions of a filter program: postfix code that the jitted interpreter runs on a candidate row.

Data's way: expression -> **code** (compiler/expressions/kernel.py) -> interpreter (rete/filters/interpreter.py) ->
verdict. Each instruction is three int64: the operation and two operands, unused ones 0.  It pops its arguments from a
stack and pushes one result.  A program leaves one value, whose effective boolean value is the verdict.
"""

from __future__ import annotations

__all__ = [
    "ADD",
    "AND",
    "ASKING",
    "BOUND",
    "CONTAINS",
    "DATATYPE",
    "DIVIDE",
    "DURATION",
    "DURATION_AT_MOST",
    "END_TIME",
    "EQUAL",
    "ERROR",
    "ERROR_VALUE",
    "FALSE",
    "GREATER",
    "GREATER_OR_EQUAL",
    "INSTRUCTION_WIDTH",
    "IN_SHARE",
    "IN_WINDOW",
    "IS_BLANK",
    "IS_IRI",
    "IS_LITERAL",
    "IS_NUMERIC",
    "IS_STREAMED",
    "LANG",
    "LANG_MATCHES",
    "LCASE",
    "LESS",
    "LESS_OR_EQUAL",
    "MEMO",
    "MULTIPLY",
    "NEGATE",
    "NOT",
    "NOT_EQUAL",
    "OR",
    "PUSH_ERROR",
    "PUSH_FALSE",
    "PUSH_TERM",
    "PUSH_UNDECIDED",
    "PUSH_VARIABLE",
    "REGEX",
    "REGEX_ANY_CASE",
    "REGEX_AT_END",
    "REGEX_AT_START",
    "SAME_TERM",
    "START_TIME",
    "STR",
    "STRENDS",
    "STRLEN",
    "STRSTARTS",
    "SUBTRACT",
    "TRUE",
    "TRUTH",
    "UCASE",
    "UNARY_PLUS",
    "UNDECIDED",
    "UNDECIDED_VALUE",
    "VERDICTS",
]

INSTRUCTION_WIDTH = 3

# Verdicts, and the entries of a memo table: verdicts of a filter on one term.
UNDECIDED = 0  # the kernel cannot tell: Python must evaluate
TRUE = 1
FALSE = 2
ERROR = 3  # SPARQL's type error; a filter drops the row, `!` keeps it an error
VERDICTS = {True: TRUE, False: FALSE, None: ERROR}  # by what the evaluator says

# Kinds of values on the stack besides those of rete/terms/kinds.py; the greater number is the stronger.
UNDECIDED_VALUE = 64
ERROR_VALUE = 65

PUSH_VARIABLE = 1  # column: the term of a column; unbound is an error
PUSH_TERM = 2  # TermId: a constant
PUSH_ERROR = 3  # an error, such as a variable out of scope
PUSH_FALSE = 4  # false, such as BOUND of a variable out of scope
PUSH_UNDECIDED = 5  # something that only Python can compute
ADD = 6
SUBTRACT = 7
MULTIPLY = 8
DIVIDE = 9
NEGATE = 10
UNARY_PLUS = 11
EQUAL = 12
NOT_EQUAL = 13
LESS = 14
LESS_OR_EQUAL = 15
GREATER = 16
GREATER_OR_EQUAL = 17
AND = 18
OR = 19
NOT = 20
BOUND = 21  # column: whether the column is bound
SAME_TERM = 22
IS_IRI = 23
IS_BLANK = 24
IS_LITERAL = 25
IS_NUMERIC = 26
MEMO = 27  # memo number, column: where the top is undecided, the memo table's verdict on the column's term
IN_SHARE = 28  # column, share << 32 | coordinate: whether the column's term belongs to that part of all shares
TRUTH = 29  # of a string, its effective boolean value; of all others, the value itself
STR = 30
LANG = 31
DATATYPE = 32  # TermIds: of xsd:string, of rdf:langString
LCASE = 33
UCASE = 34
STRLEN = 35
CONTAINS = 36  # from here on two operands
STRSTARTS = 37
STRENDS = 38
LANG_MATCHES = 39  # the second is a range in lower case, or "*"
REGEX = 40  # bits: the second operand is a string that is searched for, where and how
ASKING = 41  # nothing: as the last instruction it says that what is undecided must be asked, not passed
DURATION_AT_MOST = 42  # microseconds: whether end - start is no more; true of what is static
IS_STREAMED = 43  # whether the row is not static
DURATION = 44  # the row's end - start
START_TIME = 45
END_TIME = 46
IN_WINDOW = 47  # microseconds: whether end - window start is no more; true of what is static

REGEX_AT_START = 1
REGEX_AT_END = 2
REGEX_ANY_CASE = 4  # the second operand is ASCII in lower case
