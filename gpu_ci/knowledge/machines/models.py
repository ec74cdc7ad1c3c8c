"""GPU models: their names in the stack file, in Kubernetes and on Google Cloud, and their properties.

Compute capabilities: NVIDIA's CUDA GPU table. Memory as EC2's
DescribeInstanceTypes reports it, through Karpenter's instance-types page (2026); where a model is not rented from
EC2, its nominal memory. Label values follow the examples of the Cluster Autoscaler's AWS README (1.35).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from gpu_ci.knowledge.nearest import UnknownName


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuModel:
    """One model of GPU."""

    slug: str
    """Its name in the stack file."""
    product: str
    """NVIDIA's name."""
    capability: tuple[int, int]
    """CUDA compute capability."""
    memory_mib: int
    """Memory of one GPU that a job can see, in MiB."""
    label: str = ""
    """Value of the node label `k8s.amazonaws.com/accelerator`; empty where EC2 does not rent it."""
    gcp: str | None = None
    """Google's accelerator type; none where Google does not offer it under this name."""

    @property
    def family(self) -> str:
        """The word that identifies the model in the name that nvidia-smi reports: `A100` in `NVIDIA A100-SXM4-40GB`.

        The rest of that name depends on the board and on the driver. Workstation models share the word `RTX`.
        """
        return self.product.removeprefix("Tesla ").split()[0]

    @property
    def sm(self) -> str:
        """The architecture as compilers write it, for example `sm_75`."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


_MODELS = (
    GpuModel(slug="p4", product="Tesla P4", capability=(6, 1), memory_mib=8192, label="nvidia-tesla-p4",
             gcp="nvidia-tesla-p4"),
    GpuModel(slug="p100", product="Tesla P100", capability=(6, 0), memory_mib=16384, label="nvidia-tesla-p100",
             gcp="nvidia-tesla-p100"),
    GpuModel(slug="v100", product="Tesla V100", capability=(7, 0), memory_mib=16384, label="nvidia-tesla-v100",
             gcp="nvidia-tesla-v100"),
    GpuModel(slug="v100-32gb", product="Tesla V100 32GB", capability=(7, 0), memory_mib=32768,
             label="nvidia-tesla-v100-32gb"),
    GpuModel(slug="t4", product="Tesla T4", capability=(7, 5), memory_mib=16384, label="nvidia-tesla-t4",
             gcp="nvidia-tesla-t4"),
    GpuModel(slug="a10g", product="A10G", capability=(8, 6), memory_mib=22888, label="nvidia-a10g"),
    GpuModel(slug="l4", product="L4", capability=(8, 9), memory_mib=22888, label="nvidia-l4", gcp="nvidia-l4"),
    GpuModel(slug="l40s", product="L40S", capability=(8, 9), memory_mib=45776, label="nvidia-l40s"),
    GpuModel(slug="a100", product="A100 40GB", capability=(8, 0), memory_mib=40960, label="nvidia-tesla-a100",
             gcp="nvidia-tesla-a100"),
    GpuModel(slug="a100-80gb", product="A100 80GB", capability=(8, 0), memory_mib=81920, label="nvidia-a100-80gb",
             gcp="nvidia-a100-80gb"),
    GpuModel(slug="h100", product="H100 80GB", capability=(9, 0), memory_mib=81920, label="nvidia-h100",
             gcp="nvidia-h100-80gb"),
    GpuModel(slug="h200", product="H200", capability=(9, 0), memory_mib=144384, label="nvidia-h200",
             gcp="nvidia-h200-141gb"),
    GpuModel(slug="b200", product="B200", capability=(10, 0), memory_mib=183359, label="nvidia-b200",
             gcp="nvidia-b200"),
    GpuModel(slug="b300", product="B300", capability=(10, 3), memory_mib=275040, label="nvidia-b300"),
    GpuModel(slug="rtx-pro-6000", product="RTX PRO 6000 Blackwell", capability=(12, 0), memory_mib=98304,
             label="nvidia-rtx-pro-6000", gcp="nvidia-rtx-pro-6000"),
    GpuModel(slug="a30", product="A30", capability=(8, 0), memory_mib=24576),
    GpuModel(slug="rtx-5000", product="Quadro RTX 5000", capability=(7, 5), memory_mib=16384),
    GpuModel(slug="a5000", product="RTX A5000", capability=(8, 6), memory_mib=24576),
    GpuModel(slug="a6000", product="RTX A6000", capability=(8, 6), memory_mib=49152),
    GpuModel(slug="rtx-6000-ada", product="RTX 6000 Ada", capability=(8, 9), memory_mib=49152),
)  # fmt: skip

GPU_MODELS = MappingProxyType({model.slug: model for model in _MODELS})
"""Every model by its slug."""


def gpu_model(slug: str) -> GpuModel:
    """Return the model of that slug.

    Raises:
        UnknownName: there is no such model.

    """
    try:
        return GPU_MODELS[slug]
    except KeyError:
        raise UnknownName("GPU model", slug, GPU_MODELS) from None
