"""The vocabulary of the stack file: one validated type a line, with no knowledge of the sections that use it.

A value that is refused says what is wrong and what would be right (`Wrong`), because the person who reads it
has the stack file open, not this module.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, WithJsonSchema


class Wrong(ValueError):
    """A value the stack file may not hold, together with what would be right."""

    def __init__(self, wrong: str, right: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.right = right


def _matching(pattern: str, what: str, right: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise Wrong(f'"{value}" is not {what}', right)
        return value

    return AfterValidator(check)


def _text(value: object) -> object:
    """Refuse a YAML number where a version belongs: `1.30` would arrive as 1.3."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise Wrong(f"{value} is a number", f'write it in quotes: "{value}"')
    return value


def network(value: object) -> IPv4Network:
    """An IPv4 range, its prefix included.

    Raises:
        Wrong: `value` is none.

    """
    try:
        return IPv4Network(str(value))
    except (AddressValueError, NetmaskValueError):
        raise Wrong(f'"{value}" is not an IPv4 range', "write it as 10.0.0.0/16") from None
    except ValueError:
        inside = IPv4Network(str(value), strict=False)
        raise Wrong(f'"{value}" has bits set behind its prefix', f"write the range itself: {inside}") from None


def _private(value: IPv4Network) -> IPv4Network:
    ranges = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
    if not any(value.subnet_of(IPv4Network(private)) for private in ranges):
        raise Wrong(f"{value} is not a private range", f"take one inside {', '.join(ranges)}")
    return value


_SIZE = re.compile(r"(\d+)(Mi|Gi|Ti)")
_FOREIGN_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])i?B?|([kmgt])i?b?)?", re.IGNORECASE)


def _size(value: object) -> str:
    """Accept `12Gi`; for any other unit say how the same size is written here."""
    text = str(value)
    if _SIZE.fullmatch(text):
        return text
    foreign = _FOREIGN_SIZE.fullmatch(text.strip())
    number, unit = (foreign.group(1), foreign.group(2)) if foreign else ("12", "G")
    likely = f"{number.split('.')[0]}{(unit or 'G').upper().replace('K', 'M')}i"
    raise Wrong(f'"{text}" is not a size', f"write whole binary units, as in {likely}")


def mebibytes(size: str) -> int:
    """A `Size` in MiB.

    Raises:
        ValueError: `size` was not validated as a `Size`.

    """
    match = _SIZE.fullmatch(size)
    if match is None:
        message = f'"{size}" is not a size'
        raise ValueError(message)
    return int(match.group(1)) * {"Mi": 1, "Gi": 1024, "Ti": 1024 * 1024}[match.group(2)]


def gibibytes(size: str) -> int:
    """A `Size` in whole GiB, rounded up: what a cloud's disk API takes."""
    return -(-mebibytes(size) // 1024)


def _taint(value: str) -> str:
    """Accept `value:Effect` as Kubernetes and the autoscaler's tags spell it.

    The EKS API's own spelling (`NO_SCHEDULE`) is derived from it. Written into a tag it would be dropped
    without a word by the autoscaler, which then believes that the pool has no taint.
    """
    effects = ("NoSchedule", "NoExecute", "PreferNoSchedule")
    content, _, effect = value.rpartition(":")
    if effect.replace("_", "").lower() in (known.lower() for known in effects) and effect not in effects:
        right = next(known for known in effects if known.lower() == effect.replace("_", "").lower())
        raise Wrong(
            f"the effect {effect} is the EKS API's spelling; tags and pods need Kubernetes' own",
            f"write {content or 'true'}:{right}",
        )
    if effect not in effects:
        raise Wrong(f'"{value}" is not a taint', f"write value:Effect with one of {', '.join(effects)}")
    if not content:
        raise Wrong(f'"{value}" has no value, and the autoscaler drops a taint without one', f"write true:{effect}")
    return value


Name = Annotated[
    str,
    _matching(
        r"[a-z][a-z0-9]*(-[a-z0-9]+)*",
        "a name",
        "use lower-case letters, digits and single hyphens, letter first",
    ),
    Field(max_length=36),
]
"""A key of a map in the stack file: becomes part of URNs and of names in the cloud."""

RunnerName = Annotated[
    str,
    _matching(r"[a-z0-9]+(-[a-z0-9]+)*", "a runner's name", "use lower-case letters, digits and single hyphens"),
]
"""What a workflow says in `runs-on`; its length is judged by the back end that serves it."""

Region = Annotated[
    str,
    _matching(r"[a-z]{2}(-gov)?-[a-z]+-\d", "an AWS region", "write it as us-west-2, without a zone's letter"),
]
Zone = Annotated[
    str,
    _matching(
        r"[a-z]{2}(-gov)?-[a-z]+-\d[a-z]",
        "an availability zone",
        "write the region with a letter: us-west-2a",
    ),
]
GoogleRegion = Annotated[
    str,
    _matching(r"[a-z]+-[a-z]+\d+", "a Google Cloud region", "write it as us-central1, without a zone's letter"),
]
GoogleZone = Annotated[
    str,
    _matching(r"[a-z]+-[a-z]+\d+-[a-z]", "a Google Cloud zone", "write the region with a letter: us-central1-b"),
]
GoogleProject = Annotated[
    str,
    _matching(
        r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
        "a Google Cloud project id",
        "write the project's id, 6 to 30 characters",
    ),
]
Account = Annotated[
    str,
    BeforeValidator(_text),
    _matching(r"\d{12}", "an AWS account id", 'write twelve digits in quotes: "123456789012"'),
]
_RANGE = WithJsonSchema({"type": "string", "examples": ["10.0.0.0/16"]})
Network = Annotated[IPv4Network, PlainValidator(network), _RANGE]
PrivateNetwork = Annotated[IPv4Network, PlainValidator(network), AfterValidator(_private), _RANGE]
KubernetesVersion = Annotated[
    str,
    BeforeValidator(_text),
    _matching(r"1\.\d{2}", "a Kubernetes minor version", 'write it as "1.35", in quotes'),
]
CudaVersion = Annotated[
    str, BeforeValidator(_text), _matching(r"\d{2}\.\d", "a CUDA version", 'write it as "12.9", in quotes')
]
Version = Annotated[
    str,
    BeforeValidator(_text),
    _matching(r"\d+(\.\d+){1,3}(\+[a-z0-9.]+)?", "a version", 'write it in quotes, as in "2.9.1"'),
]
InstanceType = Annotated[
    str,
    _matching(r"[a-z][a-z0-9-]*\.[a-z0-9-]+", "an EC2 instance type", "write family.size, as in g4dn.xlarge"),
]
MachineType = Annotated[
    str, _matching(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", "a GCE machine type", "write it as n1-standard-4")
]
RoleArn = Annotated[
    str,
    _matching(
        r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+",
        "an IAM role's ARN",
        "write arn:aws:iam::123456789012:role/NAME",
    ),
]
Size = Annotated[str, BeforeValidator(_size)]
"""A memory or disk size in whole binary units: `12Gi`."""
Taint = Annotated[str, AfterValidator(_taint)]
Digest = Annotated[str, _matching(r"sha256:[0-9a-f]{64}", "an image digest", "write sha256: and 64 hexadecimal digits")]
Tag = Annotated[
    str,
    _matching(
        r"(?!latest$)[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
        "a tag that can be relied on",
        "name an exact version",
    ),
]
GitHubUrl = Annotated[
    str,
    _matching(
        r"https://[\w.-]+/(enterprises/)?[\w.-]+(/[\w.-]+)?",
        "a GitHub address",
        "write https://github.com/ORGANISATION or https://github.com/OWNER/REPOSITORY",
    ),
]
TagKey = Annotated[
    str,
    _matching(r"(?!aws:)[\w .:/=+@-]{1,128}", "a tag's key", "use at most 128 letters, digits and .:/=+@-, not aws:"),
]
Count = Annotated[int, Field(ge=0, le=10_000)]
Positive = Annotated[int, Field(ge=1, le=100_000)]
