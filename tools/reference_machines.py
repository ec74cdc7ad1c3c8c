"""The reference of machine types: each type with a GPU, its price and its quota, and the cost of each example."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gpu_ci.back_ends.registry import stack_of
from gpu_ci.back_ends.stack_file import settings_of
from gpu_ci.checks.cost.bill import bill
from gpu_ci.knowledge.cost.month import Case
from gpu_ci.knowledge.cost.prices import NoPrice, Price, dollars
from gpu_ci.knowledge.cost.prices_aws import AWS_REGIONS, ec2_price
from gpu_ci.knowledge.cost.prices_gcp import gce_price
from gpu_ci.knowledge.cost.prices_jarvis import jarvis_price
from gpu_ci.knowledge.machines import EC2_TYPES, GPU_MODELS
from gpu_ci.knowledge.machines.gcp import ATTACHABLE, GCE_TYPES
from gpu_ci.knowledge.machines.jarvis import JARVIS_GPUS, jarvis_instance
from gpu_ci.knowledge.quotas.aws import TITLES, quota_code
from gpu_ci.knowledge.quotas.gcp import METRICS, gpu_quota
from gpu_ci.stack_file.identity import Identity
from gpu_ci.stack_file.sections.runners import Workload
from ops.plan.stack_file import read

ROOT: Final = Path(__file__).resolve().parent.parent
GCP_REGIONS: Final = ("us-central1", "us-east4", "us-west4", "europe-west4")
"""Regions of Google Cloud for which a GPU has a price."""
WORKLOAD: Final = Workload(jobs_per_month=200, minutes=15)
"""The jobs of each runner in the table of costs."""
UNKNOWN: Final = "not known"


def ec2_machines() -> str:
    """Return every EC2 instance type with a GPU."""
    rows = [
        [
            f"`{one.name}`",
            f"{one.gpus or 'a part of one'} `{one.gpu.slug}`",
            _gib(one.gpu_memory_mib),
            str(one.vcpus),
            _gib(one.memory_mib),
            _usd(ec2_price(one.name, AWS_REGIONS[0])),
            *(_usd(ec2_price(one.name, region, spot=True)) for region in AWS_REGIONS),
            f"{_code(quota_code(one, spot=False))}, {_code(quota_code(one, spot=True))}",
        ]
        for one in EC2_TYPES.values()
        if one.gpu is not None
    ]
    spot = (f"Spot, {region}" for region in AWS_REGIONS)
    return _table(["Type", "GPUs", "GPU memory", "vCPUs", "Memory", "On demand", *spot, "Quotas"], rows)


def ec2_quotas() -> str:
    """Return the quotas of EC2 with their values in a new account."""
    rows = [[f"`{code}`", title, str(vcpus)] for code, (title, vcpus) in TITLES.items()]
    return _table(["Quota", "Name", "vCPUs in a new account"], rows)


def gce_machines() -> str:
    """Return every machine type of Compute Engine that has GPUs of its own."""
    rows = [
        [
            f"`{one.name}`",
            f"{one.gpus} `{one.gpu.slug}`",
            _gib(one.gpu_memory_mib),
            str(one.vcpus),
            _gib(one.memory_mib),
            _usd(gce_price(one.name, GCP_REGIONS[0])),
            _usd(gce_price(one.name, GCP_REGIONS[0], spot=True)),
            f"`{gpu_quota(one.name, one.gpu, 'PROJECT', GCP_REGIONS[0], spot=False).name}`",
        ]
        for one in GCE_TYPES.values()
        if one.gpu is not None
    ]
    header = ["Type", "GPUs", "GPU memory", "vCPUs", "Memory", "On demand", "Spot", "Quota"]
    return _table(header, rows)


def attachable_gpus() -> str:
    """Return the GPUs that can be attached to an n1 machine, with the price of an `n1-standard-4` with one."""
    rows = [
        [
            f"`{slug}`",
            _gib(GPU_MODELS[slug].memory_mib),
            ", ".join(f"{gpus} (to {vcpus} vCPUs)" for gpus, vcpus in numbers.items()),
            *(_both(slug, region) for region in GCP_REGIONS[:3]),
            f"`{METRICS[slug]}`",
        ]
        for slug, numbers in ATTACHABLE.items()
    ]
    return _table(["GPU", "GPU memory", "Numbers", *GCP_REGIONS[:3], "Quota"], rows)


def _both(slug: str, region: str) -> str:
    prices = [gce_price("n1-standard-4", region, spot=spot, gpu=slug, gpus=1) for spot in (False, True)]
    return " / ".join(dict.fromkeys(map(_usd, prices)))


def jarvis_machines() -> str:
    """Return every GPU of Jarvis Labs, with the price of an hour with one."""
    rows = []
    for slug in JARVIS_GPUS:
        one = jarvis_instance(slug, 1)
        rows.append(
            [f"`{slug}`", _gib(one.gpu_memory_mib), str(one.vcpus), _gib(one.memory_mib), _usd(jarvis_price(one.name))]
        )
    return _table(["GPU", "GPU memory", "vCPUs", "Memory", "On demand"], rows)


def example_costs() -> str:
    """Return what each example costs in a month: without jobs, with those of `WORKLOAD`, and at most."""
    return _table(
        ["Example", "Without jobs", f"With {WORKLOAD.jobs_per_month} jobs of {WORKLOAD.minutes} minutes", "At most"],
        [[f"`examples/{path.name}`", *_month(path)] for path in sorted((ROOT / "examples").glob("*.yaml"))],
    )


def _month(path: Path) -> list[str]:
    file = read(path)
    settings = settings_of(file.config, file.secret_keys, file.name, file.name)
    runners = {name: one.model_copy(update={"workload": WORKLOAD}) for name, one in settings.runners.items()}
    stack = stack_of(settings.model_copy(update={"runners": runners}), Identity(project="gpu-ci", stack=file.name))
    found = bill(stack)
    return [dollars(found.total(case)) for case in (Case.IDLE, Case.EXPECTED, Case.WORST)]


def _table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _gib(mib: int) -> str:
    return f"{mib / 1024:.4g} GiB"


def _usd(price: Price | NoPrice) -> str:
    return UNKNOWN if isinstance(price, NoPrice) or price.bound else f"{price.usd:.3f}"


def _code(code: str | None) -> str:
    return f"`{code}`" if code else UNKNOWN
