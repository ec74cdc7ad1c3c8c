"""Tests of the runbook: an entry for each check and each message, and nothing about others."""

from __future__ import annotations

import re
from typing import Final

import pytest

from ops.doctor.chain import CHECKS
from ops.doctor.log.messages import MESSAGES
from tests.doctor.worlds import ROOT

pytestmark = pytest.mark.pure

RUNBOOK: Final = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
SECTIONS: Final = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", RUNBOOK, re.MULTILINE | re.DOTALL))
"""Title of a section to its text."""


def entries(section: str) -> list[str]:
    """Return the headings of the entries of a section, which are also their anchors."""
    return re.findall(r"^### (.+)$", SECTIONS[section], re.MULTILINE)


def test_every_check_has_an_entry_in_the_order_of_the_chain() -> None:
    assert entries("Checks of the doctor") == [one.name for one in CHECKS]


def test_every_message_has_an_entry_with_its_text() -> None:
    text = SECTIONS["Meaning of the messages"]

    assert entries("Meaning of the messages") == [one.name for one in MESSAGES]
    assert [one.name for one in MESSAGES if f"### {one.name}\n\n`{one.text}`" not in text] == []


def test_the_list_of_messages_has_each_message_once() -> None:
    listed = re.findall(r"\[([a-z-]+)\]\(#(.+?)\)", SECTIONS["Messages"])

    assert sorted(listed) == sorted((one.name, one.name) for one in MESSAGES)


def test_no_two_entries_have_one_anchor() -> None:
    anchors = [*entries("Checks of the doctor"), *entries("Meaning of the messages")]

    assert len(set(anchors)) == len(anchors)


def test_every_link_of_the_runbook_to_itself_leads_to_a_heading() -> None:
    titles = re.findall(r"^##+ (.+)$", RUNBOOK, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-") for title in titles}

    assert {link for link in re.findall(r"\]\(#(.+?)\)", RUNBOOK) if link not in anchors} == set()


def test_the_runbook_starts_with_the_doctor() -> None:
    assert RUNBOOK.index("make doctor") < RUNBOOK.index("\n## ")


def test_the_runbook_contains_common_search_terms() -> None:
    words = [
        "dmesg", "nvcc", "/usr/local/cuda", "torch.cuda.is_available", "pip uninstall --yes onnxruntime onnxruntime-gpu",
        "actions.runner.OWNER-REPOSITORY.NAME.service", "journalctl", "0/2 nodes are available",
        "No CUDA GPUs are available", "driver version is insufficient", "CUDA out of memory", "/dev/nvidia0",
        "CUDAExecutionProvider", "/var/lib/kubelet/device-plugins", "ZONE_RESOURCE_POOL_EXHAUSTED", "exec format error",
    ]  # fmt: skip

    assert [word for word in words if word not in RUNBOOK] == []
