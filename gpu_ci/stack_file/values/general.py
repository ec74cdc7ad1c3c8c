"""Value types of the stack file: each validates one kind of value.

An invalid value raises `Invalid` with the problem and the fix, for a reader who has the stack file open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from math import ceil
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function


class Invalid(ValueError):
    """A value that a file must not contain, with the problem and the fix."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix


IN_QUOTES: Final = "write it in quotes, exactly as in the file: a number loses its zeros"
"""The fix for a number that must be a text. The number itself is not quoted, because it may be typed differently."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Text that matches a pattern, with a readable error, and with the pattern in the JSON schema."""

    pattern: str
    what: str
    """The kind of text, as in `an AWS region`."""
    fix: str
    """The fix for another text."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the check for pydantic."""
        return no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the pattern for a JSON schema."""
        return {**handler(schema), "pattern": f"^(?:{self.pattern})$"}

    def _checked(self, value: str) -> str:
        if re.fullmatch(self.pattern, value, re.ASCII) is None:
            raise Invalid(f'"{value}" is not {self.what}', self.fix)
        return value


def in_quotes(value: object) -> object:
    """Reject a YAML number in place of a version: `1.30` would arrive as 1.3."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise Invalid(f"{value} is a number", IN_QUOTES)
    return value


def no_boolean(value: object) -> object:
    """Reject `true` for a number: Python takes it for 1."""
    if isinstance(value, bool):
        raise Invalid(f"{str(value).lower()} is not a number", "write a whole number")
    return value


def network(value: object) -> IPv4Network:
    """Return an IPv4 range.

    Raises:
        Invalid: `value` is not a range.

    """
    try:
        return IPv4Network(str(value))
    except (AddressValueError, NetmaskValueError):
        raise Invalid(f'"{value}" is not an IPv4 range', "write it as 10.0.0.0/16") from None
    except ValueError:
        inside = IPv4Network(str(value), strict=False)
        raise Invalid(f'"{value}" has host bits set', f"write the network address: {inside}") from None


def _private(value: IPv4Network) -> IPv4Network:
    ranges = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
    if not any(value.subnet_of(IPv4Network(private)) for private in ranges):
        raise Invalid(f"{value} is not a private range", f"use one inside {', '.join(ranges)}")
    return value


_SIZE = re.compile(r"([1-9][0-9]{0,7})(Mi|Gi|Ti)")
_LARGEST = "64Ti"
"""The largest volume of EBS (gp3, since late 2025) and of Compute Engine. No machine has more memory."""
_FOREIGN_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([KMGT]?)i?B?", re.IGNORECASE)


def _size(value: object) -> str:
    """Accept `12Gi`; for any other unit, name the same size in these units."""
    text = str(value)
    if _SIZE.fullmatch(text):
        if mebibytes(text) > mebibytes(_LARGEST):
            raise Invalid(f'"{text}" is larger than any volume', f"write at most {_LARGEST}")
        return text
    raise Invalid(f'"{text}" is not a size', f"write whole binary units, as in {_likely(text.strip())}")


def _likely(text: str) -> str:
    """Return the size that was probably meant."""
    foreign = _FOREIGN_SIZE.fullmatch(text)
    amount, unit = (float(foreign[1]), foreign[2].upper() or "G") if foreign else (12.0, "G")
    if unit == "K":
        amount, unit = amount / 1024, "M"
    if amount != int(amount) and unit != "M":
        amount, unit = amount * 1024, {"G": "M", "T": "G"}[unit]
    size = f"{max(1, ceil(amount))}{unit}i"
    return size if mebibytes(size) <= mebibytes(_LARGEST) else _LARGEST


def mebibytes(size: str) -> int:
    """Return a `Size` in MiB.

    Raises:
        ValueError: `size` was not validated as a `Size`.

    """
    match = _SIZE.fullmatch(size)
    if match is None:
        message = f'"{size}" is not a size'
        raise ValueError(message)
    return int(match.group(1)) * {"Mi": 1, "Gi": 1024, "Ti": 1024 * 1024}[match.group(2)]


def gibibytes(size: str) -> int:
    """Return a `Size` in whole GiB, rounded up, as disk APIs require."""
    return -(-mebibytes(size) // 1024)


Name = Annotated[
    str,
    Field(max_length=36),
    Matching(
        r"[a-z][a-z0-9]*(-[a-z0-9]+)*",
        "a name",
        "use lower-case letters, digits and single hyphens, letter first",
    ),
]
"""A key of a map in the stack file. It becomes part of URNs and of names in the cloud."""

RunnerName = Annotated[
    str,
    Field(max_length=100),
    Matching(r"[a-z0-9]+(-[a-z0-9]+)*", "a runner's name", "use lower-case letters, digits and single hyphens"),
]
"""A name for `runs-on`. The back end checks its length."""

Region = Annotated[
    str,
    Matching(r"[a-z]{2}(-gov)?-[a-z]+-\d", "an AWS region", "write it as us-west-2, without a zone's letter"),
]
Zone = Annotated[
    str,
    Matching(
        r"[a-z]{2}(-gov)?-[a-z]+-\d[a-z]",
        "an availability zone",
        "write the region with a letter: us-west-2a",
    ),
]
GcpRegion = Annotated[
    str,
    Matching(r"[a-z]+-[a-z]+\d+", "a Google Cloud region", "write it as us-central1, without a zone's letter"),
]
MULTI_REGIONS: Final = ("asia", "europe", "us")
"""The multi-regions of Artifact Registry (Google Cloud documentation, "Repository locations", 2026)."""
RegistryLocation = Annotated[
    str,
    Matching(
        rf"[a-z]+-[a-z]+\d+|{'|'.join(MULTI_REGIONS)}",
        "a location of Artifact Registry",
        f"write a region as us-central1, or one of {', '.join(MULTI_REGIONS)}",
    ),
]
GcpZone = Annotated[
    str,
    Matching(r"[a-z]+-[a-z]+\d+-(ai\d+)?[a-z]", "a Google Cloud zone", "write the region with a letter: us-central1-b"),
]
GcpProject = Annotated[
    str,
    Matching(
        r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
        "a Google Cloud project id",
        "write the project's id, 6 to 30 characters",
    ),
]
Account = Annotated[
    str,
    BeforeValidator(in_quotes),
    Matching(r"\d{12}", "an AWS account id", 'write twelve digits in quotes: "123456789012"'),
]
_RANGE = WithJsonSchema(
    {"type": "string", "pattern": r"^\d{1,3}(\.\d{1,3}){3}(/[\d.]{1,15})?$", "examples": ["10.0.0.0/16"]}
)
Network = Annotated[IPv4Network, PlainValidator(network), _RANGE]
PrivateNetwork = Annotated[IPv4Network, PlainValidator(network), AfterValidator(_private), _RANGE]
KubernetesVersion = Annotated[
    str,
    BeforeValidator(in_quotes),
    Matching(r"1\.\d{2}", "a Kubernetes minor version", 'write it as "1.35", in quotes'),
]
CudaVersion = Annotated[
    str, BeforeValidator(in_quotes), Matching(r"\d{2}\.\d", "a CUDA version", 'write it as "12.9", in quotes')
]
Version = Annotated[
    str,
    BeforeValidator(in_quotes),
    Matching(r"\d+(\.\d+){1,3}(\+[a-z0-9.]+)?", "a version", 'write it in quotes, as in "2.9.1"'),
]
InstanceType = Annotated[
    str,
    Matching(r"[a-z][a-z0-9-]*\.[a-z0-9-]+", "an EC2 instance type", "write family.size, as in g4dn.xlarge"),
]
MachineType = Annotated[
    str, Matching(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", "a GCE machine type", "write it as n1-standard-4")
]
RoleArn = Annotated[
    str,
    Matching(
        r"arn:aws:iam::\d{12}:(role/(?!aws-service-role/)|user/)([!-.0-~]+/)*[\w+=,.@-]{1,64}",
        "an IAM role's ARN",
        "write arn:aws:iam::123456789012:role/NAME",
    ),
]
Size = Annotated[str, BeforeValidator(_size), WithJsonSchema({"type": "string", "pattern": f"^(?:{_SIZE.pattern})$"})]
"""A memory or disk size in whole binary units: `12Gi`."""
IMAGE = (
    r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:\d{1,4}|:[1-5]\d{4})?"
    r"(/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)+"
)
"""An image without its tag: the registry and the repository (the grammar of `distribution/reference`)."""
ImageReference = Annotated[
    str,
    Field(max_length=255),
    Matching(
        IMAGE,
        "an image without its tag",
        "write registry/repository, as in ghcr.io/example-org/runner; state tag or digest separately",
    ),
]
SecretName = Annotated[
    str,
    Field(max_length=253),
    Matching(
        r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*",
        "the name of a Kubernetes Secret",
        "use lower-case letters, digits, hyphens and dots, a letter or digit first and last",
    ),
]
Digest = Annotated[str, Matching(r"sha256:[0-9a-f]{64}", "an image digest", "write sha256: and 64 hexadecimal digits")]
Tag = Annotated[
    str,
    Matching(
        r"(?!latest$)[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
        "a fixed tag",
        "name an exact version",
    ),
]
TagKey = Annotated[
    str,
    Matching(
        r"(?![aA][wW][sS]:)[\w.:/=+@-]([\w .:/=+@-]{0,126}[\w.:/=+@-])?",
        "a tag's key",
        "use at most 128 letters, digits and .:/=+@-, not aws:",
    ),
]
Count = Annotated[int, Field(ge=0, le=10_000)]
Positive = Annotated[int, Field(ge=1, le=100_000)]
Ami = Annotated[
    str,
    Matching(
        r"ami-([0-9a-f]{8}|[0-9a-f]{17})",
        "an AMI's id",
        "write ami- and its 8 or 17 hexadecimal digits, as in ami-0123456789abcdef0",
    ),
]
SubnetId = Annotated[
    str,
    Matching(
        r"subnet-([0-9a-f]{8}|[0-9a-f]{17})",
        "a subnet's id",
        "write subnet- and its 8 or 17 hexadecimal digits, as in subnet-0123456789abcdef0",
    ),
]
ImageParameter = Annotated[
    str,
    Matching(
        r"/aws/service(/[a-zA-Z0-9._-]+)+|(?!/(aws|ssm)(/|$))(/[a-zA-Z0-9._-]+)+",
        "a parameter of SSM",
        "write its whole path, as in /aws/service/…/latest/ami-id or /images/gpu/ami-id",
    ),
]
Markets = Annotated[tuple[bool, ...], Field(min_length=1, max_length=2)]
"""Spot or not, in the order in which a machine is asked for."""
