"""Check that the cluster has the Secret with the key of the GitHub App. Its values are never read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from components.kubernetes.namespaces import RUNNERS
from ops.doctor.chain.sections import arc as applies
from ops.doctor.finding import broken, works

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_ci.knowledge.verdict import Verdict
    from ops.doctor.world.world import World

__all__ = ["CHECK", "NEEDS", "applies", "check"]

CHECK: Final = "github-app-secret"
NEEDS: Final = ("kubernetes-api",)

NAME: Final = "github-app"
PRIVATE: Final = "github_app_private_key"
KEYS: Final = ("github_app_id", "github_app_installation_id", PRIVATE)
_SET: Final = "`pulumi config set --secret gpu-ci:github-app-private-key < key.pem`, and `pulumi up`"


def check(world: World) -> Iterator[Verdict]:
    """Yield whether the Secret exists and has its keys."""
    subject = f"secret {RUNNERS}/{NAME}"
    found = world.cluster.ask(f"/api/v1/namespaces/{RUNNERS}/secrets/{NAME}")
    if found is None:
        yield broken(
            CHECK,
            subject,
            seen="it does not exist",
            means="no scale set can register at GitHub or be removed from it",
            fix="run `pulumi up --refresh`",
        )
        return
    data = found.get("data", {})
    empty = [key for key in KEYS if not data.get(key, {}).get("bytes")]
    if empty:
        yield broken(
            CHECK,
            subject,
            seen=f"it has no {' and no '.join(empty)}",
            means="the controller cannot sign in to GitHub",
            fix=_SET,
        )
    elif not data[PRIVATE].get("pem"):
        yield broken(
            CHECK,
            subject,
            seen=f"{PRIVATE} has {data[PRIVATE]['bytes']} bytes and is not a key in PEM form",
            means="the controller cannot sign in to GitHub",
            fix=f"download a new key from the page of the App: {_SET}",
        )
    else:
        yield works(CHECK, subject, f"it has {', '.join(KEYS)}")
