"""Any change of the text of a stack file gives settings with verdicts, or a refusal, and never another exception."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpu_ci.checks
from gpu_ci.back_ends.registry import stack_of
from gpu_ci.stack_file.identity import PROJECT, Identity
from gpu_ci.stack_file.reading.load import StackFileError
from ops.cli.options import ROOT
from ops.plan import typed
from ops.plan.stack_file import UnreadableStackFileError, read
from tests.stack_file import stacks

pytestmark = pytest.mark.pure

TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in stacks.FILES}
STRANGE = (
    *("", " ", "~", "null", "true", "yes", "-1", "0", "1e400", "0x10", "010", "1_000", ".inf", "1.30", "9" * 40, "9" * 400),
    *("{}", "[]", "[[]]", "{a: {b: c}}", "{{ x }}", "[a, 1, ~]", "&a [b]", "*a", "!!int 5", "!!str 5", "!foo x", "<<: *a"),
    *('""', "' '", '"\\0"', '"\\e[2J"', "é", "\U0001f600", "${X}", "$(id)", "../..", "a b", "A", "a" * 300, "a-" * 30, "|\n"),
    *("9" * 400 + "GB", "1" * 400 + "Gi", "10.0.0.0/" + "9" * 5000, "2026-11-22", "12:30", "99.99", "*/5 * * * *", "@x", "%"),
    *("us-west-2a", "us-central1-b", "g4dn.xlarge", "t4", "12.9", "arc: {}", "gpu-ci:runners: {}", "- x", "? x", ": ", "\t"),
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Return the text of a committed stack file with some tokens, lines or characters changed."""
    text = TEXTS[draw(st.sampled_from(sorted(TEXTS)))]
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(("token", "token", "token", "line", "sign", "cut", "copy", "indent")))
        lines = text.split("\n")
        number = draw(st.integers(0, len(lines) - 1))
        if kind == "token":
            tokens = [found.span() for found in re.finditer(r"[^\s:,\[\]{}#]+", text)]
            start, end = draw(st.sampled_from(tokens)) if tokens else (0, 0)
            text = f"{text[:start]}{draw(st.sampled_from(STRANGE))}{text[end:]}"
        elif kind == "sign":
            at = draw(st.integers(0, len(text)))
            text = f"{text[:at]}{draw(st.characters(codec='utf-8'))}{text[at + draw(st.integers(0, 1)) :]}"
        else:
            other = draw(st.integers(0, len(lines) - 1))
            lines[number : number + 1] = {
                "line": [f"    {draw(st.sampled_from(STRANGE))}: {draw(st.sampled_from(STRANGE))}"],
                "cut": [],
                "copy": [lines[number], lines[other]],
                "indent": [f"  {lines[number]}"],
            }[kind]
            text = "\n".join(lines)
    return text


@given(mutated())
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
def test_a_changed_stack_file_is_judged_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    judged(tmp_path_factory.getbasetemp() / "Pulumi.staging.yaml", text)


def judged(path: Path, text: str) -> list[str]:
    """Return the lines about a stack file: its problems, its faults or its verdicts."""
    path.write_bytes(text.encode("utf-8"))
    try:
        made = typed.settings(read(path))
    except (UnreadableStackFileError, StackFileError) as refused:
        lines = str(refused).splitlines()
        assert lines
        assert all(line.isprintable() and len(line) < 2000 for line in lines)
        return lines
    identity = Identity(project=PROJECT, stack="staging", extra=made.stack.tags)
    return [str(verdict) for verdict in gpu_ci.checks.verdicts(stack_of(made, identity))]
