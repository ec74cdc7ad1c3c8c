"""Measure what people wait for, and end with 1 where a figure breaks its bound."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from ops import bench, terminal
from ops.options import ROOT, Json
from ops.outcome import Exit, Stop
from ops.progress import progress

_MARKDOWN = Path("out") / "bench.md"


def main(json: Json = None) -> int:
    """Measure what people wait for, and end with 1 where a figure breaks its bound."""
    with progress("Measuring") as line:
        try:
            figures = bench.measure(lambda what: line.stage(f"Measuring {what}"))
        except bench.NotMeasuredError as fault:
            raise Stop(Exit.OUTSIDE, str(fault)) from None
    if json is not None:
        terminal.write_json([figure.to_data() for figure in figures], json)
    terminal.write_json(bench.markdown(figures).encode(), ROOT / _MARKDOWN)
    console = terminal.out(quiet=str(json) == "-")
    for figure in figures:
        bound = "" if figure.bound is None else f"  at most {figure.bound:g}"
        style = "ok" if figure.holds else "error"
        value = f"{figure.value:.3g} {figure.unit}".strip()
        console.print(f"[{style if figure.bound is not None else 'path'}]{value:>10}[/]  {escape(figure.what)}{bound}")
    console.print(f"[quiet]{_MARKDOWN} is written.[/]")
    return Exit.GOOD if all(figure.holds for figure in figures) else Exit.FINDING
