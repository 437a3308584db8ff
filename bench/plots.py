"""The plots: one function each, from rows to a PNG.

Where it stands: behind `harness`, before `report` puts the plots on a page.  retewave is always the same
strong colour, everything else stays grey or muted; the band is from the slowest to the fastest run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from retewave.bench.harness import Row

__all__ = ["LIMIT", "OURS", "PLOTS", "REST", "draw_all", "style"]

INK, PAPER, GRID = "#22303c", "#ffffff", "#e3e8ec"
OURS, REST = "#0f7c8a", ["#e07a3f", "#7a6bb1", "#9aa5ad", "#c2a83e"]
COLOURS = [OURS, *REST]
LIMIT = "#3d4b56"
DASHES = ["-", "--", "-.", ":"]


def style() -> Any:
    """Return matplotlib, drawing as all our plots are drawn."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "figure.facecolor": PAPER,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": GRID,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "font.size": 11,
            "axes.titlesize": 13,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "legend.frameon": False,
        }
    )
    return plt


def _short(value: float) -> str:
    """Return a number as a person says it.

    >>> [_short(x) for x in (3_140_000, 52_300, 870, 4.2)]
    ['3.1 M', '52 k', '870', '4.2']
    """
    for size, name in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            scaled = value / size
            return f"{scaled:.1f}{name}" if scaled < 10 else f"{scaled:.0f}{name}"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _lines(rows: Sequence[Row], sweep: str, metric: str) -> dict[str, list[Row]]:
    """Return the rows of each series with that metric, by x."""
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.x):
        if row.sweep == sweep and row.metric == metric and row.repetitions:
            found.setdefault(row.series, []).append(row)
    return found


def _colours(names: Sequence[str]) -> dict[str, str]:
    rest = iter(REST * 3)
    fixed = {names[0]: OURS} | {"C, by hand": LIMIT, "retewave": OURS}
    if "retewave" in names[1:]:
        del fixed[names[0]]
    return {name: fixed.get(name) or next(rest) for name in names}


def _curves(axes: Any, lines: dict[str, list[Row]], *, log: bool) -> None:
    """Draw each series with its band, and its name at its right end."""
    colours = _colours(list(lines))
    several = any(len(rows) > 1 for rows in lines.values())
    for name, rows in lines.items():
        colour, width = colours[name], 2.6 if colours[name] == OURS else 1.8
        if several and len(rows) == 1:  # a level to compare with
            axes.axhline(rows[0].median, color=colour, lw=width, ls="--", label=name)
            continue
        x = [row.x for row in rows]
        axes.plot(x, [row.median for row in rows], "o-", color=colour, lw=width, ms=2 * width, label=name)
        axes.fill_between(x, [r.minimum for r in rows], [r.maximum for r in rows], color=colour, alpha=0.15, lw=0)
    if log:
        _log_scale(axes, sorted({row.x for rows in lines.values() for row in rows if len(rows) > 1 or not several}))
    axes.set_ylim(0, 1.15 * max(row.maximum for rows in lines.values() for row in rows))
    axes.yaxis.set_major_formatter(lambda value, _: _short(value))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.legend(loc="best")


def _log_scale(axes: Any, places: list[float]) -> None:
    """Make x logarithmic, with a place for 0 left of the others, and label the places that were measured."""
    if places[0] == 0:
        axes.set_xscale("symlog", linthresh=places[1] if len(places) > 1 else 1, linscale=0.4)
    else:
        axes.set_xscale("log")
    axes.set_xticks(places)
    axes.minorticks_off()


def _missing(axes: Any) -> None:
    axes.text(0.5, 0.5, "not measured", ha="center", va="center", transform=axes.transAxes, color="#9aa5ad", size=14)


def _sweep_plot(
    rows: Sequence[Row], sweep: str, metric: str, axes: Any, titles: tuple[str, str, str], log: bool
) -> None:
    title, x_label, y_label = titles
    lines = _lines(rows, sweep, metric)
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    if lines:
        _curves(axes, lines, log=log)
    else:
        _missing(axes)


def windows(rows: Sequence[Row], plt: Any) -> Any:
    """Draw throughput and memory against the window: the paper's Figures 7 and 8."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
    x = "window, s (at 100,000 triples/s nominal)"
    _sweep_plot(rows, "window", "throughput", left, ("Throughput", x, "triples/s, bytes to matches"), False)
    _sweep_plot(rows, "window", "memory", right, ("Peak of resident memory", x, "MB"), False)
    return figure


def _throughput(rows: Sequence[Row], plt: Any, sweep: str, title: str, x_label: str) -> Any:
    figure, axes = plt.subplots(figsize=(8, 4.6))
    _sweep_plot(rows, sweep, "throughput", axes, (f"Throughput against {title}", x_label, "triples/s"), True)
    return figure


def static_data(rows: Sequence[Row], plt: Any) -> Any:
    """Draw throughput against static data: the paper's Figure 9."""
    return _throughput(rows, plt, "static", "static data", "static triples (pattern 1 needs none)")


def schemas(rows: Sequence[Row], plt: Any) -> Any:
    """Draw throughput against the target's subclasses."""
    return _throughput(rows, plt, "schema", "the schema", "subclasses of the target type")


def pattern_counts(rows: Sequence[Row], plt: Any) -> Any:
    """Draw throughput against the number of registered patterns."""
    return _throughput(rows, plt, "patterns", "registered patterns", "registered patterns")


def latencies(rows: Sequence[Row], plt: Any) -> Any:
    """Draw the percentiles of the latency."""
    figure, axes = plt.subplots(figsize=(12, 4.6))
    axes.set(title="From a triple's due time to its match", ylabel="µs", xlabel="percentile of the matches")
    names = ["p50", "p90", "p99", "p99.9", "max"]
    lines = {name: _lines(rows, "latency", f"latency {name}") for name in names}
    series = sorted(
        {one for line in lines.values() for one in line},
        key=lambda one: (one.partition(",")[0], lines["p99"][one][0].x),
    )
    kinds = list(dict.fromkeys(one.partition(",")[0] for one in series))  # a colour each
    seen: dict[str, int] = {}  # how many of a kind are drawn: a dash each
    for one in series:
        kind = one.partition(",")[0]
        seen[kind] = seen.get(kind, -1) + 1
        y = [lines[name][one][0].median for name in names]
        colour, dash = COLOURS[kinds.index(kind) % len(COLOURS)], DASHES[seen[kind] % len(DASHES)]
        axes.plot(range(len(names)), y, "o", ls=dash, color=colour, lw=2.2, label=f"{one}: p99 {_short(y[2])} µs")
    if not series:
        _missing(axes)
        return figure
    axes.set_yscale("log")
    axes.set_xticks(range(len(names)), names)
    axes.yaxis.set_major_formatter(lambda value, _: _short(value))
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def peers(rows: Sequence[Row], plt: Any) -> Any:
    """Draw everything that can do pattern 1, the fastest on top."""
    return _bars(rows, plt, "peers")


def on_spark(rows: Sequence[Row], plt: Any) -> Any:
    """Draw what Spark does with us and without, and the embedded engine."""
    return _bars(rows, plt, "spark")


def _bars(rows: Sequence[Row], plt: Any, sweep: str) -> Any:
    speed = {name: line[0] for name, line in _lines(rows, sweep, "throughput").items()}
    memory = {name: line[0] for name, line in _lines(rows, sweep, "memory").items()}
    order = sorted(speed, key=lambda name: speed[name].median)
    figure, axes = plt.subplots(figsize=(10, 0.52 * len(order) + 1.7))
    axes.set(title="Pattern 1, window 5 s: bytes to matches", xlabel="triples/s (logarithmic)")
    if not order:
        _missing(axes)
        return figure
    values = [speed[name].median for name in order]
    colours = [OURS if name.startswith("retewave") else LIMIT if name == "C, by hand" else "#b8c2ca" for name in order]
    axes.barh(order, values, color=colours, height=0.66)
    for y, name in enumerate(order):
        text = f"  {_short(speed[name].median)}/s · {memory[name].median:,.0f} MB"
        fewer = speed[name].offers < max(row.offers for row in speed.values())
        text += f" · {speed[name].offers:,} offers only" if fewer else ""
        axes.text(values[y], y, text, va="center", size=10)
    axes.set_xscale("log")
    axes.set_xlim(min(values) / 2.5, max(values) * 12)
    axes.xaxis.set_major_formatter(lambda value, _: _short(value))
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    return figure


PLOTS: dict[str, Callable[[Sequence[Row], Any], Any]] = {
    "peers": peers,
    "window": windows,
    "static": static_data,
    "schema": schemas,
    "patterns": pattern_counts,
    "latency": latencies,
    "spark": on_spark,
}


def draw_all(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw the plots of all sweeps that have rows; return their files."""
    plt = style()
    drawn = []
    for name, plot in PLOTS.items():
        if any(row.sweep == name for row in rows):
            figure = plot(rows, plt)
            figure.tight_layout()
            drawn.append(folder / f"{name}.png")
            figure.savefig(drawn[-1], dpi=160)
            plt.close(figure)
    return drawn
