"""The tables of the stand-in clouds, held against the SDKs' own classes and against what is answered."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fakes import answers_gcp as answers_google
from fakes import answers_kubernetes, tables
from fakes.aws import answers as answers_amazon
from fakes.kinds import RefusedError, value_at, values_at

if TYPE_CHECKING:
    from fakes.kinds import Kind

pytestmark = pytest.mark.pure

ANSWERED = {*answers_amazon.MAKERS, *answers_google.MAKERS, *answers_kubernetes.MAKERS}
KINDS = [tables.kind_of(type_) for type_ in sorted(tables.known())]


def test_every_type_that_is_answered_has_a_row() -> None:
    assert sorted(ANSWERED - tables.known()) == []


def test_every_row_is_of_a_type_that_is_answered() -> None:
    unanswered = {kind.type for kind in KINDS if not kind.type.startswith("kubernetes:core/")} - ANSWERED

    assert sorted(unanswered) == []


def wire_inputs(kind: Kind) -> set[str]:
    """The top-level inputs of a type, as the wire calls them: read from the SDK's source, whose import takes long."""
    package, path, name = kind.type.split(":")
    root = Path(sysconfig.get_path("purelib"), f"pulumi_{package.replace('-', '_')}")
    module = path.replace("helm.sh", "helm") if package == "kubernetes" else path.split("/")[0].replace("index", "")
    source = root / module / f"{name if package == 'kubernetes' else _snake(name)}.py"
    head = source.read_text().split("def _internal_init(", 1)[1].split("__props__", 1)[0]
    return {_camel(parameter) for parameter in re.findall(r"^ {17}(\w+):", head, re.MULTILINE)}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _camel(name: str) -> str:
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type)
def test_a_row_names_inputs_that_there_are(kind: Kind) -> None:
    named = {
        *kind.replaced_by,
        *kind.words,
        *kind.lengths,
        *(reference.path for reference in kind.references),
        *([kind.delete_first] if kind.delete_first else []),
    }
    tops = {path.split(".")[0] for path in named}

    assert sorted(tops - wire_inputs(kind)) == []


def test_a_reference_names_a_type_that_has_a_row() -> None:
    named = {reference.to for kind in KINDS for reference in kind.references}

    assert sorted(named - tables.known()) == []


def test_what_something_can_hold_has_words_for_it() -> None:
    held = {
        reference.to for kind in KINDS for reference in kind.references if reference.holds and not reference.follows
    }
    silent = {type_ for type_ in held if not tables.kind_of(type_).in_use}

    # A role says itself what is on it.
    assert silent == {"aws:iam/role:Role"} & silent


def test_a_type_without_a_row_is_refused() -> None:
    with pytest.raises(RefusedError, match="the stand-in clouds know no aws:s3/object:Object"):
        tables.kind_of("aws:s3/object:Object")


def test_any_object_of_kubernetes_is_known() -> None:
    assert "metadata.name" in tables.kind_of("kubernetes:apps/v1:Deployment").replaced_by


def test_a_path_walks_lists_and_passes_over_what_is_not_known() -> None:
    data = {"a": [{"b": 1}, {"b": None}, {"c": 2}, {"b": "[unknown]"}, {"b": 3}]}

    assert list(values_at("a.*.b", data)) == [("a[0].b", 1), ("a[4].b", 3)]


def test_a_path_takes_one_of_a_list() -> None:
    assert value_at("a.1.b", {"a": [{"b": 1}, {"b": 2}]}) == 2
