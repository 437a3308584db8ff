"""The prefix of names without a prefix, in languages whose papers never declare it.

Data's way: parse tree -> **notice** -> query.
Invariant: it stands for the empty prefix only where a query does not declare that; a notice says so.
"""

from __future__ import annotations

from lark import Token

from retewave.compiler.languages.language import ParseTree
from retewave.compiler.languages.reading import Node, Source, kind_of, rule, token

__all__ = ["DEFAULT", "told_default"]

DEFAULT = "http://example.org/"


def told_default(tree: ParseTree, source: Source) -> tuple[str, ...]:
    """Return a notice that shows the first name without a prefix, if there is one and PREFIX : is not declared."""
    bare = next(tree.scan_values(_is_bare), None)
    if bare is None or any(tree.find_pred(_declares_empty)):
        return ()
    name = str(bare).removeprefix(":")
    told = f"{bare} is read as <{DEFAULT}{name}>; declare PREFIX : <...> for names without a prefix"
    return (f"{source.place(bare)}: {told}",)


def _declares_empty(part: ParseTree) -> bool:
    return rule(part) == "prefix_decl" and token(part) == ":"


def _is_bare(written: Node) -> bool:
    kind = kind_of(written) if isinstance(written, Token) else ""
    return kind == "BARE_NAME" or (kind == "PNAME_LN" and str(written)[0] == ":")
