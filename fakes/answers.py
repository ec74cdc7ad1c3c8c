"""What a cloud would answer, from one place: the recorder and the stand-in clouds both ask here.

Nothing is invented on the way: a type that no table knows raises, so that a plan is never built on an output that
no cloud gives. Names and forms follow the outputs of the provider packages; a test holds every answered name
against the SDK's class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fakes import answers_gcp as answers_google
from fakes import answers_kubernetes
from fakes.answers_asked import Asked, Made, Place
from fakes.aws import answers as answers_amazon

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Answer", "Place", "computed", "created", "looked_up", "unanswered"]

_MAKERS = {**answers_amazon.MAKERS, **answers_google.MAKERS, **answers_kubernetes.MAKERS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the engine hears after a create."""

    id: str
    """The id that the provider knows the thing by."""
    outputs: Mapping[str, Any]
    """The inputs and what the cloud computed, under the names of the wire."""


def created(type_: str, name: str, urn: str, inputs: Mapping[str, Any], *, place: Place | None = None) -> Answer:
    """The answer to a create; the same for the same arguments, always."""
    id_, extra = computed(type_, name, urn, inputs, place=place)
    return Answer(id=id_, outputs={**inputs, **extra})


def computed(type_: str, name: str, urn: str, inputs: Mapping[str, Any], *, place: Place | None = None) -> Made:
    """The id, and only what the cloud adds to the inputs."""
    maker = _MAKERS.get(type_)
    if maker is None and type_.startswith("kubernetes:"):
        maker = answers_kubernetes.make_object
    if maker is None:
        raise LookupError(
            f"no stand-in answer is known for the type {type_} (of {name!r}); "
            "add what the cloud computes for it to the tables beside fakes/answers.py"
        )
    return maker(Asked(type=type_, name=name, urn=urn, inputs=inputs, place=place or Place()))


def looked_up(token: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer to a look-up: there is none, the program asks no cloud anything while it declares."""
    raise unanswered(f"{token} with {sorted(args)}")


def unanswered(what: str) -> LookupError:
    """The fault of asking a cloud while declaring."""
    return LookupError(
        f"the program asks a cloud for {what}; state the fact in the stack file or pin it, "
        "so that a plan does not depend on the day"
    )
