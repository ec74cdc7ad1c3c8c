"""GitHub's expressions, as far as the workflows that are written here use them, so that tests can ask what an event does.

After GitHub Docs, "Evaluate expressions in workflows and actions" (2026): a name that is not there is null, texts are
compared without regard to case, and `&&` and `||` give one of their sides back. What is not known here is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

_TOKEN: Final = re.compile(r"\s*('(?:[^']|'')*'|&&|\|\||==|!=|!|\(|\)|[A-Za-z_][\w.-]*)")
_PLACE: Final = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


def text_of(value: str, contexts: Mapping[str, Any]) -> str:
    """`value` with every expression in it evaluated."""
    return _PLACE.sub(lambda found: _shown(value_of(found[1], contexts)), value)


def holds(condition: str, contexts: Mapping[str, Any], *, so_far: bool = True) -> bool:
    """Return whether a job or a step with this `if` runs. `so_far` is the success of the steps before it.

    A condition without a function of its own that asks for the state is `success() && (…)`.
    """
    asked = re.search(r"\b(always|cancelled|failure|success)\(\)", condition)
    if asked is None and not so_far:
        return False
    return _true(value_of(condition, {**contexts, "always()": True, "success()": so_far}))


def results(
    jobs: Mapping[str, Any],
    contexts: Mapping[str, Any],
    *,
    ends: Callable[[str], str] = lambda _: "success",
    kept: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, Any]]:
    """Return result and outputs of each job of one attempt. `kept` are the jobs that this attempt does not repeat.

    GitHub uses their outputs (GitHub Docs, "Re-running workflows and jobs", 2026).
    """
    found: dict[str, dict[str, Any]] = {}
    for name, job in jobs.items():
        if kept and name in kept:
            found[name] = kept[name]
            continue
        known = {"steps": {}, **contexts, "needs": {one: found[one] for one in needed(job)}}
        so_far = all(one["result"] == "success" for one in known["needs"].values())
        runs = holds(job.get("if", "success()"), known, so_far=so_far)
        outputs = {key: text_of(value, known) for key, value in job.get("outputs", {}).items()} if runs else {}
        found[name] = {"result": ends(name) if runs else "skipped", "outputs": outputs}
    return found


def needed(job: Mapping[str, Any]) -> list[str]:
    """Return the jobs that a job needs."""
    return [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])


def value_of(expression: str, contexts: Mapping[str, Any]) -> Any:
    """Return the value of an expression."""
    inner = _PLACE.fullmatch(expression.strip())
    return _Reading(inner[1] if inner else expression, contexts).whole()


class _Reading:
    """One expression, read from left to right: the loosest operator first."""

    def __init__(self, text: str, contexts: Mapping[str, Any]) -> None:
        self.contexts = contexts
        self.tokens: list[str] = []
        text, at = text.strip(), 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            assert found, f"no expression that is known here: {text[at:]}"
            self.tokens.append(found[1])
            at = found.end()

    def whole(self) -> Any:
        value = self.either()
        assert not self.tokens, f"left over: {self.tokens}"
        return value

    def either(self) -> Any:
        value = self.both()
        while self.tokens[:1] == ["||"]:
            self.tokens.pop(0)
            other = self.both()
            value = value if _true(value) else other
        return value

    def both(self) -> Any:
        value = self.compared()
        while self.tokens[:1] == ["&&"]:
            self.tokens.pop(0)
            other = self.compared()
            value = other if _true(value) else value
        return value

    def compared(self) -> Any:
        value = self.single()
        while self.tokens[:1] in (["=="], ["!="]):
            same = self.tokens.pop(0) == "=="
            value = _equal(value, self.single()) == same
        return value

    def single(self) -> Any:
        token = self.tokens.pop(0)
        if token == "!":
            return not _true(self.single())
        if token == "(":
            inner = self.either()
            assert self.tokens.pop(0) == ")"
            return inner
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if self.tokens[:2] == ["(", ")"]:
            del self.tokens[:2]
            return self.contexts[f"{token}()"]
        first, *names = token.split(".")
        value: Any = {"true": True, "false": False}[first] if first in {"true", "false"} else self.contexts[first]
        for name in names:
            value = value.get(name) if isinstance(value, dict) else None
        return value


def _true(value: Any) -> bool:
    return value not in (None, False, 0, "")


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return left.lower() == right.lower()
    assert type(left) is type(right) or None in (left, right), f"{left!r} and {right!r} are compared as numbers"
    return bool(left == right)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
