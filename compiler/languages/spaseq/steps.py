"""Read SEQ (…): its steps, how each follows the one before, and how often it is there.

Data's way: parse tree of SEQ -> **steps as written** -> sequence.
Laws: & binds closer than |, and both closer than the strategies.  A mark (+ ? !) stands behind a whole step.
Repetitions of the first step follow each other by skip till next, those of later steps strictly (definition 14 of
the paper), unless the mark says how: ,+ ;+ :+.
"""

from __future__ import annotations

from dataclasses import dataclass

from lark import Token

from retewave.compiler.algebra import Follows, Occurs
from retewave.compiler.languages.context import Context
from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, rule, token, tokens_of, trees_of
from retewave.compiler.languages.spaseq.definitions import tell_dot

__all__ = ["WrittenStep", "names_in", "written_steps"]

_MARKS = {"?": Occurs.MAYBE, "!": Occurs.NEVER}


@dataclass(frozen=True)
class WrittenStep:
    """A step as it is written."""

    operand: ParseTree  # a name, or operands that & and | connect
    occurs: Occurs  # how often
    follows: Follows  # how it follows the step before
    between: Follows  # how its repetitions follow each other
    at: Node  # where it is written


def written_steps(tree: ParseTree, context: Context) -> list[WrittenStep]:
    """Return the steps of SEQ (…)."""
    tell_dot(tokens_of(tree)[1:], context)
    steps: list[WrittenStep] = []
    follows = Follows.NEXT
    for part in trees_of(tree):
        if rule(part) == "separator":
            follows = _strategy(part, context)
            last = part
        else:
            steps.append(_step(part, follows, not steps, context))
    if not steps:
        raise context.error("SEQ has no step", tree, "write SEQ (A; B)")
    if rule(trees_of(tree)[-1]) == "separator":
        context.notice(f"nothing follows: this {token(last)!r} is passed over", last)
    return steps


def names_in(operand: ParseTree) -> list[Token]:
    """Return the names of GPMs in a step, in the order written."""
    if rule(operand) == "gpm_name":
        return [token(operand)]
    return [name for part in trees_of(operand) for name in names_in(part)]


def _strategy(tree: ParseTree, context: Context) -> Follows:
    first, *others = tokens_of(tree)
    for other in others:
        if other != first:
            hint = "one stands between two steps: ',' strict, ';' skip till next, ':' skip till any"
            raise context.error(f"{str(first)!r} and {str(other)!r} say different things", other, hint)
    if others:
        context.notice(f"{str(first)!r} stands here more than once, and counts once", others[0])
    return Follows(str(first))


def _step(tree: ParseTree, follows: Follows, first: bool, context: Context) -> WrittenStep:
    operand, mark = (tree.children[0], token(tree, 1)) if rule(tree) == "marked" else (tree, None)
    for inner in operand.find_pred(lambda part: rule(part) == "marked"):
        wrong = token(inner, 1)
        what = f"{''.join(wrong.split())!r} stands behind a whole step, and once"
        raise context.error(what, wrong, "write (A & B)+, or a step of its own: A+, B")
    between = Follows.NEXT if first else Follows.STRICT
    if mark is None or mark in _MARKS:
        return WrittenStep(operand, Occurs.ONCE if mark is None else _MARKS[mark], follows, between, tree)
    occurs = Occurs.MOST if mark.endswith("!") else Occurs.SOME
    return WrittenStep(operand, occurs, follows, between if mark[0] == "+" else Follows(mark[0]), tree)
