"""The report: a page with the targets, the plots, and what each peer cannot do.

Where it stands: the last step; it reads nothing but the rows.  `python -m retewave.bench.report` makes the
page again from bench/out/results.csv.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from retewave.bench.harness import Machine, Row, read_rows, shown
from retewave.bench.plots import PLOTS, draw_all

__all__ = ["write_report"]

CAPTIONS = {
    "peers": (
        "Against what one would pick instead",
        "Every bar finds the same matches on the same bytes, or on the first so many offers where it says so; what has "
        "set semantics counts an offer once. "
        "The dark bar does the bare work by hand in C, without an engine: the physical limit.",
    ),
    "window": (
        "The window (Figures 7 and 8 of the Sparkwave paper)",
        "Pattern 1, target type with 40 subclasses. Without reasoning: the stream asserts the target itself, "
        "as many triples and as many matches, no schema.",
    ),
    "static": (
        "Static data (Figure 9)",
        "Patterns 2 and 3 join the stream with the countries of vendors and producers, window 1 s.",
    ),
    "schema": (
        "The schema",
        "Target types from none to 1,608 subclasses, the latter in a hierarchy of 22,527 types on six levels.",
    ),
    "patterns": (
        "Registered patterns",
        "Pattern 1 besides patterns that never match, and besides patterns that watch one product each.",
    ),
    "latency": (
        "Latency",
        "Triples are pushed when they are due, at a fixed rate; a match is as late as the clock says beyond its "
        "last triple's due time, so a stall counts against all that came meanwhile.",
    ),
    "spark": (
        "On Spark",
        "Structured Streaming on two local cores, the stream from files: the same query text through "
        "<code>retewave.spark.match</code>, the embedded engine, and what one can write in plain Spark. The session's "
        "start and a short stream through the same query come before the clock.",
    ),
}

TABLES = {
    "network": (
        "The network alone",
        "Pattern 1 against the window, in seconds: rows that were scanned beforehand, one thread, output rows made.",
    ),
    "counters": (
        "Counters",
        "Pattern 1, window 5 s, with the counts by memory and join of <code>stats=True</code> and without: whole runs, "
        "and the network alone by turns of some milliseconds, where off against off tells the noise.",
    ),
    "filters": (
        "Filters on strings",
        "Bytes to matches with one filter on literals that are all different, one match in a hundred triples.",
    ),
    "written": (
        "Written",
        "Pattern 1, window 5 s, 50,000 offers: counted only, and written in each format to a file; ndjson of matches "
        "found beforehand into a pipe; <code>retewave run</code> from its start. The C program writes ndjson.",
    ),
    "changes": (
        "Queries that come and go",
        "Register, push one triple, remove, beside others of its shape or not; and many queries one by one.",
    ),
    "costs": (
        "What it costs beside",
        "Memory a live row, the start of a process whose kernels are on the disk, and the loading of static data.",
    ),
}

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #22303c; max-width: 62rem; margin: 2.5rem auto; padding: 0 1rem }
h1 { margin-bottom: 0 } h2 { margin-top: 2.6rem } .quiet { color: #6b7780 } img { max-width: 100%; height: auto }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .32rem .6rem .32rem 0;
border-bottom: 1px solid #e3e8ec; vertical-align: top } td.n, th.n { text-align: right; white-space: nowrap }
.reached { color: #0f7c8a; font-weight: 600 } .missed { color: #c0392b; font-weight: 600 }
"""


def _number(value: float, unit: str) -> str:
    return f"{shown(value)} {unit}"


def _cells(cells: Sequence[tuple[str, str]], tag: str = "td") -> str:
    return "<tr>" + "".join(f'<{tag} class="{kind}">{escape(text)}</{tag}>' for kind, text in cells) + "</tr>"


def _figure(row: Row) -> Sequence[tuple[str, str]]:
    """Return a row's median and range as two cells."""
    if not row.repetitions:
        return ("n", "–"), ("n quiet", "")
    return ("n", _number(row.median, row.unit)), ("n quiet", f"{shown(row.minimum)} – {shown(row.maximum)}")


def _targets(rows: Sequence[Row]) -> str:
    """Return the table of targets."""
    head = _cells([("", "target"), ("n", "goal"), ("n", "median"), ("n", "from – to"), ("", "")], "th")
    lines = [
        _cells(
            [
                ("", row.series),
                ("n", row.target),
                *_figure(row),
                (row.note, row.note),
            ]
        )
        for row in rows
        if row.sweep == "targets"
    ]
    return f"<h2>Targets</h2><table>{head}{''.join(lines)}</table>" if lines else ""


def _peers(rows: Sequence[Row], sweep: str) -> str:
    """Return the table of the questions that each peer cannot answer, or why it was not measured."""
    head = _cells([("", "measured"), ("n", "triples/s"), ("n", "offers"), ("", "it cannot, or it was not")], "th")
    lines = [
        _cells(
            [
                ("", row.series),
                ("n", f"{row.median:,.0f}" if row.repetitions else "–"),
                ("n", f"{row.offers:,}"),
                ("", row.note),
            ]
        )
        for row in sorted(rows, key=lambda row: -row.median)
        if row.sweep == sweep and row.metric == "throughput"
    ]
    return f"<table>{head}{''.join(lines)}</table>"


def _tables(rows: Sequence[Row]) -> str:
    """Return the sweeps that are a few figures and no plot."""
    head = _cells([("", "measured"), ("", "figure"), ("n", "median"), ("n", "from – to")], "th")
    parts = []
    for name, (title, text) in TABLES.items():
        lines = [
            _cells(
                [
                    ("", row.series),
                    ("", row.metric),
                    *_figure(row),
                ]
            )
            for row in rows
            if row.sweep == name
        ]
        parts.append(f"<h2>{title}</h2><p>{text}</p><table>{head}{''.join(lines)}</table>" if lines else "")
    return "".join(parts)


def _failures(rows: Sequence[Row]) -> str:
    """Return the failures, loudly."""
    wrong = [row for row in rows if row.note.startswith(("WRONG", "failed", "not done"))]
    items = "".join(f"<li>{escape(f'{row.sweep}, {row.series}, {row.x:g}: {row.note}')}</li>" for row in wrong)
    return f'<h2 class="missed">Runs without a figure</h2><ul>{items}</ul>' if wrong else ""


def _sections(rows: Sequence[Row], plots: Sequence[Path]) -> str:
    drawn = {path.stem: path.name for path in plots}
    parts = []
    for name, (title, text) in CAPTIONS.items():
        if name in drawn:
            parts.append(f'<h2>{title}</h2><p>{text}</p><img src="{drawn[name]}" alt="{title}">')
            parts.append(_peers(rows, name) if name in ("peers", "spark") else "")
    return "".join(parts)


def _method(machine: Machine, rows: Sequence[Row]) -> str:
    runs = max((row.repetitions for row in rows), default=0)
    return (
        f'<p class="quiet">{escape(machine.cpu)}, {machine.cores} cores; {escape(machine.system)}; commit '
        f"{escape(machine.commit)}; {escape(machine.versions)}. <code>{escape(machine.command)}</code></p>"
        f"<p>Medians of {runs} interleaved run{'s' if runs > 1 else ''} of each point, each in a process of its own; "
        "bands and ranges are the slowest and the fastest. Imports and compilation are excluded: every run warms up on "
        "a short stream first. The matches of every run are counted and compared with a count made without any "
        "engine.</p>"
    )


def write_report(rows: Sequence[Row], machine: Machine, folder: Path) -> Path:
    """Write report.html and its plots into a folder; return the page."""
    plots = draw_all([row for row in rows if row.sweep in PLOTS], folder)
    page = folder / "report.html"
    body = _method(machine, rows) + _failures(rows) + _targets(rows) + _sections(rows, plots) + _tables(rows)
    page.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>retewave, measured</title>'
        f"<style>{STYLE}</style><h1>retewave, measured</h1>{body}</html>\n",
        encoding="utf-8",
    )
    return page


def main(
    results: Annotated[Path, typer.Argument(help="what a bench has written", exists=True, dir_okay=False)] = Path(
        "bench/out/results.csv"
    ),
) -> None:
    """Draw the report again from its figures."""
    print(write_report(*read_rows(results), results.parent))


if __name__ == "__main__":
    typer.run(main)
