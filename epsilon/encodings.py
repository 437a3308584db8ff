"""Texts are UTF-8: a byte order mark before them is skipped, and other encodings are called by their names.

Where it stands: at the beginning of every document that is read: streams, static data, schemas, queries.
"""

from __future__ import annotations

import codecs

from retewave.errors import Place, RetewaveError

__all__ = ["MARK", "NOT_UTF8", "decoded", "foreign", "without_mark"]

MARK = codecs.BOM_UTF8
NOT_UTF8 = "is it Latin-1? all texts are UTF-8: iconv -f LATIN1 -t UTF-8 converts it"
_LONG = ((codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"))  # before UTF-16, whose mark begins alike
_MARKS = (*_LONG, (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"))


def foreign(beginning: bytes) -> str | None:
    r"""Say in which encoding a text is, by its first bytes, if that encoding is not read.

    >>> foreign("<a>".encode("utf-16")), foreign(b"<a>")
    ('the text is UTF-16: all texts are UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)', None)
    """
    names = [name for mark, name in _MARKS if beginning.startswith(mark)]
    if 0 in beginning[:2]:
        names.append("UTF-16LE" if beginning[:1] != b"\0" else "UTF-16BE")
    if not names:
        return None
    return f"the text is {names[0]}: all texts are UTF-8 (iconv -f {names[0]} -t UTF-8 converts it)"


def without_mark(text: bytes) -> bytes:
    """Return a text without the byte order mark that some programs write before it."""
    return text.removeprefix(MARK)


def decoded(text: bytes, source: str, error: type[RetewaveError]) -> str:
    r"""Return the characters of a whole text, or raise the error with the place and the encoding.

    >>> decoded(MARK + b"ASK", "q.rq", RetewaveError)
    'ASK'
    """
    if other := foreign(text):
        raise error(other, place=Place(source, 1, 1))
    try:
        return without_mark(text).decode()
    except UnicodeDecodeError as e:
        line = text.count(b"\n", 0, e.start) + 1
        column = e.start - text.rfind(b"\n", 0, e.start)
        raise error(
            f"the byte 0x{text[e.start]:02X} is not UTF-8; {NOT_UTF8}", place=Place(source, line, column)
        ) from e
