"""Value types of Google Cloud."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from gpu_ci.knowledge.software.image_tags import OPERATING_SYSTEMS
from gpu_ci.stack_file.values.general import IMAGE, Invalid, Matching, in_quotes

_DOMAIN: Final = r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+"

Member = Annotated[
    str,
    Field(examples=["group:ci@example.org"]),
    Matching(
        rf"(user|group):[!-?A-~]+@{_DOMAIN}|serviceAccount:([!-?A-~]+@{_DOMAIN}|[a-z0-9.:-]+\.svc\.id\.goog\[[a-z0-9./-]+\])"
        rf"|domain:{_DOMAIN}|(principal|principalSet)://iam\.googleapis\.com/[^\s\x00-\x1f]+",
        "an IAM member",
        "write the kind and the address, as in group:ci@example.org or user:jo@example.org",
    ),
]
"""An IAM member, as Google spells it: `group:ci@example.org`."""

DockerRepositoryName = Annotated[
    str,
    Matching(
        r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
        "a repository's name",
        "use at most 63 lower-case letters, digits and hyphens, letter first, no hyphen at the end",
    ),
]
"""A repository of Artifact Registry (pattern of its API, 2026)."""
BucketName = Annotated[
    str,
    Matching(
        r"(?!goog)(?!.*(google|g00gle))(?!\d+\.\d+\.\d+\.\d+$)(?!.*(\.[.-]|-\.))[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]",
        "a bucket's name",
        "use 3 to 63 lower-case letters, digits, dots, hyphens and underscores, a letter or digit at both ends",
    ),
]
ImageName = Annotated[
    str,
    Matching(
        r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?",
        "the name of an image of Google Cloud",
        "write it alone, without project or family, as in ubuntu-2404-noble-amd64-v20261105",
    ),
]
DriverBranch = Annotated[
    str,
    BeforeValidator(in_quotes),
    Matching(r"\d{3}", "a driver branch", 'write its number alone, in quotes: "580"'),
]
_ACCOUNTS_OF_UBUNTU = frozenset(
    {
        "root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
        "backup", "list", "irc", "ubuntu",
    }
)  # fmt: skip
"""Accounts that Ubuntu 24.04 has already (its package base-passwd; `ubuntu` is in the group sudo)."""


def _of_its_own(value: str) -> str:
    if value in _ACCOUNTS_OF_UBUNTU:
        raise Invalid(f'"{value}" is an account of Ubuntu itself', "write another name, as in ci-gpu-runner")
    return value


UserName = Annotated[
    str,
    Matching(
        r"[a-z_][a-z0-9_-]{0,30}",
        "a user's name",
        "use at most 31 lower-case letters, digits, hyphens and underscores, no digit first",
    ),
    AfterValidator(_of_its_own),
]


def _on_ubuntu(value: str) -> str:
    system = value.partition("@")[0].rpartition("-")[2]
    if system in OPERATING_SYSTEMS and not system.startswith("ubuntu"):
        raise Invalid(
            f'"{value}" is not based on Ubuntu, which the container needs',
            "use a tag that ends with an Ubuntu version, as in 13.0.3-base-ubuntu24.04",
        )
    return value


BaseImage = Annotated[
    str,
    Matching(
        rf"({IMAGE}:)?(?!latest$)[A-Za-z0-9_][A-Za-z0-9._-]{{0,127}}(@sha256:[0-9a-f]{{64}})?",
        "a base image with its tag",
        "write a tag of nvidia/cuda, as in 13.0.3-base-ubuntu24.04, or a full reference REGISTRY/NAME:TAG@sha256:…",
    ),
    AfterValidator(_on_ubuntu),
]


ContentHash = Annotated[
    str,
    Matching(
        r"[0-9a-f]{8}", "the hash of an image's content", "write the eight digits that the builder reported after ok:"
    ),
]
