"""XPath's regular expressions: what they match, what is refused, and that no text takes them for ever."""

from __future__ import annotations

import re
import signal
import unicodedata
from typing import Any
from unittest.mock import patch

import pytest
from cases.many import many
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from naive.regex import searched, ways, written
from rdflib import Literal

from retewave.compiler.expressions import functions_patterns as patterns
from retewave.compiler.expressions.faults import ExpressionError
from retewave.compiler.expressions.functions_patterns import regex, replace
from retewave.compiler.expressions.operators import TRUE
from retewave.compiler.regex.character_sets import (
    CATEGORIES,
    category,
    complement,
    difference,
    escaped,
    ranges,
    with_case,
)
from retewave.compiler.regex.ways import ways_of
from retewave.compiler.regex.xpath import PatternError, read_pattern

CASES = many(500)
ALPHABET = "aAb\n-k"
LAST = 0x10FFFF


def matches(pattern: str, text: str, flags: str = "") -> bool:
    return regex(Literal(text), Literal(pattern), Literal(flags)) == TRUE


def replaced(text: str, pattern: str, replacement: str, flags: str = "") -> str:
    return str(replace(Literal(text), Literal(pattern), Literal(replacement), Literal(flags)))


# Against the naive matcher

characters = st.sampled_from(ALPHABET)
leaves = st.one_of(
    st.tuples(st.just("char"), characters),
    st.tuples(st.just("set"), st.text(characters, min_size=1, max_size=3), st.booleans()),
    st.sampled_from([("any",), ("start",), ("end",)]),
)


def larger(trees: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(trees, min_size=2, max_size=3).map(tuple)
    counts = st.sampled_from([(0, 1), (0, None), (1, None), (2, 2), (0, 2), (1, 3)])
    times = st.builds(lambda tree, count, greedy: ("times", tree, *count, greedy), trees, counts, st.booleans())
    return st.one_of(
        st.tuples(st.just("group"), trees),
        st.tuples(st.just("all"), several),
        st.tuples(st.just("either"), several),
        times,
    )


trees = st.recursive(leaves, larger, max_leaves=6)
flags_ = st.text(st.sampled_from("sim"), max_size=3)
texts = st.text(st.sampled_from("aAb\n-kK\u212a"), max_size=7)
of_law = settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))


@of_law
@given(trees, texts, flags_)
def test_a_pattern_matches_what_the_naive_matcher_matches(tree: Any, text: str, flags: str) -> None:
    assert matches(written(tree), text, flags) is searched(tree, text, flags)


@of_law
@given(trees, texts, flags_)
def test_re2_matches_what_the_naive_matcher_matches(tree: Any, text: str, flags: str) -> None:
    compiled = patterns._Compiled(read_pattern(written(tree), flags))
    assume(patterns._has_re2(compiled.pattern.tree, text))
    with patch.object(patterns._Compiled, "uses_python", lambda self, text: False):
        assert compiled.search(text) is searched(tree, text, flags)


@of_law
@given(trees, texts, flags_, st.lists(st.sampled_from(["x", 0, 1, "\\", "$"]), max_size=3))
def test_re2_replaces_what_re_replaces(tree: Any, text: str, flags: str, parts: list[str | int]) -> None:
    compiled = patterns._Compiled(read_pattern(f"({written(tree)})", flags))
    assume(patterns._has_re2(compiled.pattern.tree, text) and not compiled.matches_nothing)
    expected = compiled.replaced(text, tuple(parts))
    with patch.object(patterns._Compiled, "uses_python", lambda self, text: False):
        assert compiled.replaced(text, tuple(parts)) == expected


@of_law
@given(trees, texts, flags_)
def test_there_are_no_more_ways_to_match_than_are_reckoned_with(tree: Any, text: str, flags: str) -> None:
    found = max(sum(1 for _ in ways(tree, text, at, flags)) for at in range(len(text) + 1))
    assert found <= ways_of(read_pattern(written(tree), flags).tree)(len(text))


# Sets of characters


def test_a_category_has_the_characters_that_unicode_gives_it() -> None:
    whole = [0] * (LAST + 1)
    for name in sorted(CATEGORIES - set("LMNPZSC")):
        for first, last in category(name):
            for code in range(first, last + 1):
                assert unicodedata.category(chr(code)) == name
                whole[code] += 1
    unassigned = {code for code in range(LAST + 1) if unicodedata.category(chr(code)) == "Cs"}
    assert {code for code, times in enumerate(whole) if times != 1} == unassigned


@pytest.mark.parametrize(
    ("pattern", "holds"),
    [
        (r"\p{Lu}", lambda char: unicodedata.category(char) == "Lu"),
        (r"\P{L}", lambda char: unicodedata.category(char)[0] != "L"),
        (r"\d", lambda char: unicodedata.category(char) == "Nd"),
        (r"\w", lambda char: unicodedata.category(char)[0] not in "PZC"),
        (r"\s", lambda char: char in " \t\r\n"),
        (r"[^\S\n]", lambda char: char in " \t\r"),
        (r"[\p{Nd}-[0-4]]", lambda char: unicodedata.category(char) == "Nd" and char not in "01234"),
        (r"[a-z-[aeiou-[e]]]", lambda char: char in "bcdefghjklmnpqrstvwxyz"),
    ],
)
def test_an_escape_matches_exactly_the_characters_that_it_names(pattern: str, holds: Any) -> None:
    every = "".join(chr(code) for code in range(LAST + 1) if not 0xD800 <= code <= 0xDFFF)
    compiled = patterns._Compiled(read_pattern(pattern)).python
    assert set(compiled.findall(every)) == set(filter(holds, every))


@pytest.mark.parametrize(
    ("char", "initial", "inside"),
    [
        *(("a", True, True), (":", True, True), ("_", True, True), ("é", True, True), ("\U00010000", True, True)),
        *(("-", False, True), ("5", False, True), ("\u00b7", False, True)),
        *(("\u00d7", False, False), (" ", False, False), ("!", False, False)),
    ],
)
def test_i_and_c_are_the_characters_of_names_in_xml(char: str, initial: bool, inside: bool) -> None:
    assert (matches(r"^\i$", char), matches(r"^\c$", char)) == (initial, inside)
    assert (matches(r"^\I$", char), matches(r"^\C$", char)) == (not initial, not inside)


sets = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda pair: tuple(sorted(pair))), max_size=4)


@given(sets, sets)
def test_sets_of_characters_are_sets(one: Any, other: Any) -> None:
    def members(pairs: Any) -> set[int]:
        return {code for first, last in pairs for code in range(first, min(last, 40) + 1)}

    left, right = ranges(one), ranges(other)
    assert members(left) == members(one) and ranges(left) == left == complement(complement(left))
    assert members(complement(left)) == set(range(41)) - members(one)
    assert members(difference(left, right)) == members(one) - members(other)


def test_case_variants_are_those_of_unicode() -> None:
    for each in ("k", "S", "é", "ς", "Σ", "ǆ", "5"):
        variants = {chr(code) for low, high in with_case(((ord(each), ord(each)),)) for code in range(low, high + 1)}
        every = [chr(code) for low, high in complement(escaped("W")) for code in range(low, high + 1)]
        assert variants == {c for c in every if c.lower() == each.lower() or c.upper() == each.upper()} | {each}


# Examples


@pytest.mark.parametrize(
    ("pattern", "text", "flags", "found"),
    [
        ("b", "abc", "", True),
        ("^b", "abc", "", False),
        ("c$", "abc\n", "", False),  # Python's $ matches before a last newline
        ("^c", "ab\nc", "m", True),
        ("b$", "ab\nc", "m", True),
        ("^$", "a\n", "m", False),
        ("a.c", "a\nc", "", False),
        ("a.c", "a\nc", "s", True),
        ("a b c", "abc", "x", True),
        ("a[ ]b", "a b", "x", True),
        ("a # b", "a#b", "x", True),
        ("A.C", "a.c", "qi", True),
        ("A.C", "abc", "qi", False),
        ("K", "\u212a", "i", True),
        ("\\p{Lu}", "a", "i", False),
        ("[^a]", "A", "i", False),
        ("(a)\\1", "abaa", "", True),
        ("(a)\\1", "aA", "i", True),
        ("(a)|b\\1c", "bc", "", True),  # a group that has matched nothing is an empty text
        ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10", "abcdefghijj", "", True),
        ("(a)\\10", "aa0", "", True),
        ("a{2,3}?b", "aaab", "", True),
        ("a{0}b", "b", "", True),
        ("[a-]", "-", "", True),
        ("[-a]", "-", "", True),
        ("[\\w-.]", "-", "", True),
        ("[a^]", "^", "", True),
        ("\\^\\$\\-\\|", "^$-|", "", True),
        ("_", "_", "", True),
        ("\\w", "_", "", False),
        ("(?:ab)+", "xabab", "", True),
        ("", "", "", True),
        ("a|", "", "", True),
        ("[\\n\\t]", "\t", "", True),
    ],
)
def test_a_pattern_matches_as_xpath_says(pattern: str, text: str, flags: str, found: bool) -> None:
    assert matches(pattern, text, flags) is found


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "flags", "result"),
    [  # most are XPath's own examples
        ("abracadabra", "bra", "*", "", "a*cada*"),
        ("abracadabra", "a.*a", "*", "", "*"),
        ("abracadabra", "a.*?a", "*", "", "*c*bra"),
        ("abracadabra", "a", "", "", "brcdbr"),
        ("abracadabra", "a(.)", "a$1$1", "", "abbraccaddabbra"),
        ("AAAA", "A+", "b", "", "b"),
        ("AAAA", "A+?", "b", "", "bbbb"),
        ("darted", "^(.*?)d(.*)$", "$1c$2", "", "carted"),
        ("ab", "(a)|(b)", "[$1$2$3]", "", "[a][b]"),
        ("abc", "b", "$0$01", "", "abb1c"),
        ("a\\b", "\\\\", "\\\\\\$", "", "a\\$b"),
        ("a.b", ".", "\\1", "q", "a\\1b"),
        ("aXb", "x", "-", "i", "a-b"),
    ],
)
def test_a_replacement_is_as_xpath_says(text: str, pattern: str, replacement: str, flags: str, result: str) -> None:
    assert replaced(text, pattern, replacement, flags) == result


@pytest.mark.parametrize(
    ("pattern", "at", "what"),
    [
        ("ab(", 2, "not closed"),
        ("ab)", 2, "closes nothing"),
        ("a**", 2, "behind a quantifier"),
        ("*a", 0, "nothing before it"),
        ("a|+", 2, "nothing before it"),
        ("a{2,1}", 1, "no number of times"),
        ("a{,3}", 1, "no number of times"),
        ("a{x}", 1, "no number of times"),
        ("{", 0, "stands alone"),
        ("a]", 1, "stands alone"),
        ("a}", 1, "stands alone"),
        ("[]", 0, "without its ]"),
        ("[a", 0, "without its ]"),
        ("[z-a]", 1, "ends before it begins"),
        ("[a-\\d]", 1, "ends before it begins"),
        ("[a[b]", 2, "inside a class"),
        ("[a-z-[b]c]", 8, "goes on behind"),
        ("[--a]", 1, "begins with -"),
        ("a\\", 1, "at the end"),
        ("\\b", 0, r"\b is not of XPath"),
        ("a\\Z", 1, r"\Z is not of XPath"),
        ("\\x41", 0, r"\x is not of XPath"),
        ("a\\/b", 1, r"\/ is not of XPath"),
        ("(?=a)", 0, r"(?= is not of XPath"),
        ("(?i)a", 0, r"(?i is not of XPath"),
        ("(?P<n>a)", 0, r"(?P is not of XPath"),
        ("\\pL", 0, "without a category"),
        ("\\p{Xx}", 0, "'Xx' is no category"),
        ("\\p{IsGreek}", 0, "blocks of Unicode are not supported"),
        ("\\1(a)", 0, "has not ended"),
        ("(a\\1)", 2, "has not ended"),
        ("(" * 101, 100, "more than 100 groups"),
    ],
)
def test_what_is_no_pattern_of_xpath_is_refused_where_it_goes_wrong(pattern: str, at: int, what: str) -> None:
    with pytest.raises(PatternError) as caught:
        read_pattern(pattern)
    assert what in caught.value.what
    assert caught.value.at == at


@given(st.text(st.sampled_from("ab()[]{}*+?|^$.\\-12,pPLuicdsw:= "), max_size=12), st.text(max_size=3))
def test_any_string_is_a_pattern_or_is_refused(pattern: str, flags: str) -> None:
    try:
        compiled = patterns._Compiled(read_pattern(pattern, flags))
    except PatternError as error:
        assert 0 <= error.at <= max(len(pattern), len(flags))
    else:
        assert isinstance(compiled.python, re.Pattern)


# Time


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a|aa)+$", "(.*a){12}c", "^(([a-z])+.)+[A-Z]([a-z])+$", "a*a*a*a*a*c", "(\\w\\w?)*!"]
)
def test_a_text_that_python_would_search_for_years_is_searched(pattern: str) -> None:
    assert matches(pattern, "a" * 5_000 + "\u00a1") is False


def test_a_text_of_megabytes_is_searched_and_replaced_in() -> None:
    text = "abc " * 1_000_000
    assert matches("[a-z]+ $", text)
    assert not matches("(c|b)*a$", text)
    assert replaced(text, "([a-c]+)c ", "$1") == "ab" * 1_000_000


def test_a_pattern_that_only_python_can_match_is_an_error_where_it_could_take_for_ever() -> None:
    assert matches(r"(a+)+\1b", "aab")
    with pytest.raises(ExpressionError, match="too many ways"):
        matches(r"(a+)+\1b", "a" * 100)
    with pytest.raises(ExpressionError, match="too many ways"):
        matches("(a{1000}){1000}(b|c)*(b|c)*", "a" * 100_000)


def test_a_result_that_would_fill_the_memory_is_an_error() -> None:
    with pytest.raises(ExpressionError, match="too long"):
        replaced("a" * 100_000, "a", "$0" * 1_000)
    with pytest.raises(ExpressionError, match="too long"):
        replaced("a" * 100_000, "(a|b)+", "$1$0" * 1_000)


def test_an_interrupt_gets_through_while_a_pattern_is_matched() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    compiled = patterns._Compiled(read_pattern(r"(a+)+\1b"))
    former = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        with patch.object(patterns._Compiled, "bearable", 1 << 40), pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
            compiled.search("a" * 100)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


def test_patterns_that_come_in_data_are_not_kept_for_ever() -> None:
    for number in range(1_000):
        assert matches(f"a{{{number}}}", "a" * number)
    assert patterns._compiled.cache_info().currsize <= 256
