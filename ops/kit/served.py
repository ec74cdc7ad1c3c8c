"""The runners of a stack as a job asks for them, and the reason why none of them serves a job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from gpu_ci.back_ends.offer import Offer
from gpu_ci.back_ends.protocol import RunsOn
from gpu_ci.back_ends.registry import BACK_ENDS
from gpu_ci.knowledge.machines import GPU_MODELS
from gpu_ci.knowledge.nearest import did_you_mean, nearest, suggestion
from gpu_ci.knowledge.verdict import Verdict, error
from gpu_ci.stack_file.sections.settings import Settings

CHECK: Final = "runs-on"

_HOSTED: Final = ("ubuntu-", "windows-", "macos-")
_NEARLY: Final = 0.8
"""The similarity of two names that differ in one letter or a transposition (difflib's ratio)."""
_LONGEST: Final = 80
_WAITS: Final = "so the job waits for a day and then fails"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One runner of the stack, and how a job asks for it."""

    runner: str
    """Its key in the stack file."""
    minutes: int
    """The longest job that it accepts."""
    asked: RunsOn
    gpu: bool
    """Whether it has a GPU."""
    group: str | None
    """Its runner group at GitHub; None where the service that starts it chooses one."""


def served(settings: Settings) -> tuple[Served, ...]:
    """Return every runner of a stack."""
    return tuple(
        Served(
            runner=name,
            minutes=runner.timeout_minutes,
            asked=BACK_ENDS[runner.back_end].runs_on(name, runner),
            gpu=bool(runner.needs.gpu),
            group=_group(BACK_ENDS[runner.back_end].offer(name, runner, settings)),
        )
        for name, runner in settings.runners.items()
    )


def _group(offer: Offer) -> str | None:
    if offer.shared is not None:
        return offer.shared.group
    return offer.own.standing.group if offer.own is not None and offer.own.standing is not None else None


def shown(value: object) -> str:
    """Return a value of a foreign file as printable text for one line of a terminal."""
    text = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in str(value)
    )
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def is_in(runner: Served, group: str) -> bool:
    return runner.group is None or runner.group.casefold() == group.casefold()


def group_without(here: str, group: str, runners: Sequence[Served]) -> Verdict:
    """Return the error of a group that has none of `runners`."""
    groups = {one.group for one in runners if one.group is not None}
    names = ", ".join(one.asked.label for one in runners)
    reason = f"the group {shown(group)} does not have {names or 'a runner of this stack'}, {_WAITS}"
    return error(CHECK, here, reason, f"{did_you_mean(group, groups)} {_also(group)}")


def _also(label: str) -> str:
    return f"If it is a runner of another stack or a larger runner of GitHub, add --also {shown(label)}"


def serves(runner: Served, asked: Sequence[str]) -> bool:
    """Return True if the runner has every label. GitHub ignores upper and lower case."""
    asked_for = runner.asked
    mine = {label.casefold() for label in (asked_for.label, *asked_for.more)}
    names = [(_base(label) if asked_for.suffix else label).casefold() for label in asked]
    return set(names) <= mine and (not asked_for.named or asked_for.label.casefold() in names)


def _base(label: str) -> str:
    """Return a label without the text that identifies the run."""
    return label.partition("--")[0]


def unserved(here: str, asked: Sequence[str], runners: Sequence[Served], also: AbstractSet[str]) -> Iterator[Verdict]:
    """Explain why no runner matches, for each label on its own where that is possible."""
    labels = {one.asked.label.casefold(): one.asked.label for one in runners}
    bases = [_base(label).casefold() for label in asked]
    meant = next((labels[base] for base in bases if base in labels), None)
    if meant is not None:
        others = [label for label, base in zip(asked, bases, strict=True) if base != meant.casefold()]
        reason = f"no runner has {shown(', '.join(others))} in addition to {meant}"
        if not others:
            reason = f"{meant} accepts no text after two hyphens"
        yield error(CHECK, here, reason, f"write runs-on: {meant}")
        return
    by_key = {one.runner.casefold(): one.asked.label for one in runners}
    unknown: list[str] = []
    for label, base in zip(asked, bases, strict=True):
        if label.casefold() in also or base.startswith(_HOSTED):
            continue
        name = by_key.get(base) or _near(base, labels)
        if name is not None:
            yield error(CHECK, here, f"no runner has the label {shown(label)}", suggestion(name, ()))
        else:
            unknown.append(label)
    if unknown:
        reason = f"no runner of this stack and no standard runner of GitHub has {shown(', '.join(unknown))}, {_WAITS}"
        yield error(CHECK, here, reason, f"{_serve(asked, runners)}. {_also(','.join(unknown))}")


def _serve(asked: Sequence[str], runners: Sequence[Served]) -> str:
    """Return the ways to serve a job with these labels."""
    models = _models(*asked)
    keys = (one.asked.labels_key for one in runners if one.asked.labels_key and models <= _models(one.asked.label))
    key = next(keys, None)
    added = f", or state {key}: [{shown(', '.join(asked))}]" if key is not None else ""
    return f"{named(runners)}: write one of them{added}" if runners else named(runners)


def _near(name: str, known: Mapping[str, str]) -> str | None:
    """Return the runner that was probably meant. Another GPU is not a typing error: gpu-l4 is not gpu-t4."""
    longer = next((label for key, label in known.items() if "-" in name and key.endswith(f"-{name}")), None)
    if longer is not None:
        return longer
    close = nearest(name, known, cutoff=_NEARLY)
    return known[close] if close is not None and _models(name) <= _models(close) else None


def _models(*labels: str) -> set[str]:
    """Return the GPU models that labels name."""
    return {word for label in labels for word in label.casefold().split("-")} & GPU_MODELS.keys()


def named(runners: Sequence[Served]) -> str:
    names = ", ".join(one.asked.label for one in runners)
    return f"this stack has the runners {names}" if names else "this stack has no runners"
