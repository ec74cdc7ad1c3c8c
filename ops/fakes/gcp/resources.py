"""The fake Google Cloud: networks, images, machines, buckets, registries and identities.

What Compute Engine refuses for a machine is in `ops.fakes.gcp.machine_rules`; Secret Manager and Cloud Monitoring are
in `ops.fakes.gcp.services`.

Sources: `ForceNew` in hashicorp/terraform-provider-google 7.x for replacements, the Google APIs for refusals, the
outputs of the pulumi-gcp 10 SDK for answers (2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.request import CREATED_AT, PROJECT_NUMBER, Answer, Created, Request
from ops.fakes.gcp.machine_rules import MACHINE_CHECKS, RESOURCE_POLICY

NETWORK: Final = "gcp:compute/network:Network"
SUBNETWORK: Final = "gcp:compute/subnetwork:Subnetwork"
ROUTER: Final = "gcp:compute/router:Router"
INSTANCE: Final = "gcp:compute/instance:Instance"
IMAGE: Final = "gcp:compute/image:Image"
BUCKET: Final = "gcp:storage/bucket:Bucket"
ACCOUNT: Final = "gcp:serviceaccount/account:Account"
POOL: Final = "gcp:iam/workloadIdentityPool:WorkloadIdentityPool"
REPOSITORY: Final = "gcp:artifactregistry/repository:Repository"

_MISSING: Final = "Error 404: The resource '{value}' was not found, notFound"
_IN_USE: Final = "Error 400: The resource '{id}' is already being used by '{holder}', resourceInUseByAnotherResource"


def _region(request: Request) -> str:
    return str(request.inputs.get("region") or request.place.gcp_region)


def _zone(request: Request) -> str:
    return str(request.inputs.get("zone") or request.place.gcp_zone)


def _compute(request: Request, noun: str, scope: str = "global") -> Created:
    """Return the answer of Compute Engine, which identifies an object by its path."""
    name = request.physical()
    id_ = f"projects/{request.project}/{scope}/{noun}/{name}"
    self_link = f"https://www.googleapis.com/compute/v1/{id_}"
    return id_, {"name": name, "project": request.project, "selfLink": self_link, "creationTimestamp": CREATED_AT}


def _network(request: Request) -> Created:
    id_, outputs = _compute(request, "networks")
    del outputs["creationTimestamp"]
    return id_, {**outputs, "networkId": request.number(19), "gatewayIpv4": ""}


def _subnetwork(request: Request) -> Created:
    id_, outputs = _compute(request, "subnetworks", f"regions/{_region(request)}")
    return id_, {**outputs, "region": _region(request), "gatewayAddress": "10.0.0.1"}


def _instance(request: Request) -> Created:
    id_, outputs = _compute(request, "instances", f"zones/{_zone(request)}")
    machine = {"instanceId": request.number(19), "currentStatus": "RUNNING", "cpuPlatform": "Intel Skylake"}
    return id_, {**outputs, **machine}


def _schedule(request: Request) -> Created:
    id_, outputs = _compute(request, "resourcePolicies", f"regions/{_region(request)}")
    del outputs["creationTimestamp"]
    return id_, {**outputs, "region": _region(request)}


def _router(request: Request) -> Created:
    id_, outputs = _compute(request, "routers", f"regions/{_region(request)}")
    return id_, {**outputs, "region": _region(request)}


def _router_nat(request: Request) -> Created:
    name, router = request.physical(), request.inputs.get("router", "router")
    return f"{request.project}/{_region(request)}/{router}/{name}", {"name": name, "project": request.project}


def _bucket(request: Request) -> Created:
    name = request.physical()
    return name, {
        "name": name,
        "project": request.project,
        "url": f"gs://{name}",
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
    }


def _service_account(request: Request) -> Created:
    email = f"{request.inputs.get('accountId', request.name)}@{request.project}.iam.gserviceaccount.com"
    id_ = f"projects/{request.project}/serviceAccounts/{email}"
    return id_, {
        "email": email,
        "member": f"serviceAccount:{email}",
        "name": id_,
        "project": request.project,
        "uniqueId": request.number(21),
    }


def _custom_role(request: Request) -> Created:
    id_ = f"projects/{request.project}/roles/{request.inputs.get('roleId', request.name)}"
    return id_, {"name": id_, "deleted": False, "project": request.project}


def _identity_path(request: Request, path: str) -> Created:
    # The id contains the project's id, the name contains its number.
    name = f"projects/{PROJECT_NUMBER}/{path}"
    return f"projects/{request.project}/{path}", {"name": name, "project": request.project, "state": "ACTIVE"}


def _pool(request: Request) -> Created:
    pool = request.inputs.get("workloadIdentityPoolId", request.name)
    return _identity_path(request, f"locations/global/workloadIdentityPools/{pool}")


def _pool_provider(request: Request) -> Created:
    pool = request.inputs.get("workloadIdentityPoolId", "pool")
    provider = request.inputs.get("workloadIdentityPoolProviderId", request.name)
    return _identity_path(request, f"locations/global/workloadIdentityPools/{pool}/providers/{provider}")


def _repository(request: Request) -> Created:
    name = request.inputs.get("repositoryId", request.name)
    location = request.inputs.get("location") or request.place.gcp_region
    return f"projects/{request.project}/locations/{location}/repositories/{name}", {
        "name": name,
        "location": location,
        "project": request.project,
        "registryUri": f"{location}-docker.pkg.dev/{request.project}/{name}",
        "createTime": CREATED_AT,
    }


def _service(request: Request) -> Created:
    return f"{request.project}/{request.inputs.get('service', request.name)}", {"project": request.project}


def _kind(
    type_: str,
    answer: Answer,
    *,
    identity: Sequence[str] = ("project", "name"),
    **rest: Any,
) -> Kind:
    """Return the row of an object that its identity's last input names."""
    name = identity[-1]
    return Kind(
        type=type_,
        answer=answer,
        identity=identity,
        taken=f"Error 409: The resource '{{{len(identity) - 1}}}' already exists, alreadyExists",
        in_use=_IN_USE,
        delete_first=name if name == "name" else "",
        max_lengths={"name": 63} if name == "name" else {},
        **rest,
    )


def _by_id_or_link(path: str, to: str) -> tuple[Reference, Reference]:
    """Return the references of an input that holds an id or a self link."""
    return Reference(path, to), Reference(path, to, by="selfLink")


def _grant(type_: str, target: str, to: str = "", missing: str = "") -> Kind:
    """Return the row of a role for one member of `target`; deleting the target deletes it."""

    def answer(request: Request) -> Created:
        id_ = "/".join(str(request.inputs.get(key, key)) for key in (target, "role", "member"))
        return id_, {"etag": request.hex(12)}

    reference = Reference(target, to, by="name", missing=missing, blocks=False, cascades=True)
    return Kind(
        type=type_,
        answer=answer,
        references=[reference] if to else [],
    )


_SCHEDULING: Final[Mapping[str, Sequence[str]]] = {
    "scheduling.onHostMaintenance": ("MIGRATE", "TERMINATE"),
    "scheduling.provisioningModel": ("FLEX_START", "SPOT", "STANDARD"),
    "scheduling.instanceTerminationAction": ("DELETE", "STOP"),
}

TABLE: Final = (
    _kind(NETWORK, _network, slow=True),
    _kind(
        SUBNETWORK,
        _subnetwork,
        identity=("project", "region", "name"),
        references=_by_id_or_link("network", NETWORK),
    ),
    _kind(
        ROUTER,
        _router,
        identity=("project", "region", "name"),
        references=_by_id_or_link("network", NETWORK),
    ),
    _kind(
        "gcp:compute/routerNat:RouterNat",
        _router_nat,
        identity=("project", "region", "router", "name"),
        references=[Reference("router", ROUTER, by="name", blocks=False, cascades=True)],
        choices={"natIpAllocateOption": ("AUTO_ONLY", "MANUAL_ONLY")},
    ),
    _kind(
        "gcp:compute/firewall:Firewall",
        lambda request: _compute(request, "firewalls"),
        references=_by_id_or_link("network", NETWORK),
        choices={"direction": ("EGRESS", "INGRESS")},
    ),
    _kind(
        INSTANCE,
        _instance,
        identity=("project", "zone", "name"),
        references=[
            *_by_id_or_link("networkInterfaces.*.network", NETWORK),
            *_by_id_or_link("networkInterfaces.*.subnetwork", SUBNETWORK),
            Reference("serviceAccount.email", ACCOUNT, by="email", blocks=False),
            Reference("resourcePolicies", RESOURCE_POLICY, by="selfLink"),
        ],
        choices=_SCHEDULING,
        before_create=MACHINE_CHECKS,
        slow=True,
    ),
    _kind(
        RESOURCE_POLICY,
        _schedule,
        identity=("project", "region", "name"),
    ),
    _kind(
        IMAGE,
        lambda request: _compute(request, "images"),
        slow=True,
    ),
    _grant("gcp:compute/imageIamMember:ImageIamMember", "image", IMAGE),
    Kind(
        type=BUCKET,
        answer=_bucket,
        identity=("name",),
        taken="Error 409: The requested bucket name is not available: {0}, conflict",
        delete_first="name",
        max_lengths={"name": 63},
    ),
    _kind(
        REPOSITORY,
        _repository,
        identity=("project", "location", "repositoryId"),
        choices={"format": ("APT", "DOCKER", "GENERIC", "GO", "KFP", "MAVEN", "NPM", "PYTHON", "YUM")},
    ),
    _grant("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember", "repository", REPOSITORY),
    _kind(ACCOUNT, _service_account, identity=("project", "accountId")),
    _grant("gcp:serviceaccount/iAMMember:IAMMember", "serviceAccountId", ACCOUNT, missing=_MISSING),
    _grant("gcp:projects/iAMMember:IAMMember", "project"),
    # Google keeps a deleted pool, provider or custom role for some time, and its name cannot be used again meanwhile.
    _kind("gcp:projects/iAMCustomRole:IAMCustomRole", _custom_role, identity=("project", "roleId"), keeps_name=True),
    _kind(POOL, _pool, identity=("project", "workloadIdentityPoolId"), keeps_name=True),
    _kind(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        _pool_provider,
        identity=("project", "workloadIdentityPoolId", "workloadIdentityPoolProviderId"),
        references=[
            Reference(
                "workloadIdentityPoolId",
                POOL,
                by="workloadIdentityPoolId",
                missing=_MISSING,
                blocks=False,
                cascades=True,
            )
        ],
        keeps_name=True,
    ),
    _kind("gcp:projects/service:Service", _service, identity=("project", "service")),
)
