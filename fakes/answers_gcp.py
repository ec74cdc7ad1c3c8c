"""What GCP computes beside the inputs, one row a resource type: ids, self links, addresses, e-mail addresses.

Forms are those of Google's own documentation of each resource as the pulumi-gcp 10 SDK lists its outputs (2026-11).
"""

from __future__ import annotations

from typing import Final

from fakes.answers_asked import CREATED_AT, STAND_IN_PROJECT_NUMBER, Asked, Made, Maker


def _project(asked: Asked) -> str:
    return str(asked.inputs.get("project") or asked.place.google_project)


def _region(asked: Asked) -> str:
    return str(asked.inputs.get("region") or asked.place.google_region)


def _zone(asked: Asked) -> str:
    return str(asked.inputs.get("zone") or asked.place.google_zone)


def _where(asked: Asked, scope: str) -> str:
    """The middle of a resource's path: `global`, its region, or its zone."""
    places = {"regions": _region(asked), "zones": _zone(asked)}
    return f"{scope}/{places[scope]}" if scope in places else "global"


def _compute(kind: str, scope: str = "global") -> Maker:
    """Something Compute Engine keeps: known by its path, with a self link."""

    def make(asked: Asked) -> Made:
        name = asked.physical()
        id_ = f"projects/{_project(asked)}/{_where(asked, scope)}/{kind}/{name}"
        outputs = {
            "name": name,
            "project": _project(asked),
            "selfLink": f"https://www.googleapis.com/compute/v1/{id_}",
            "creationTimestamp": CREATED_AT,
        }
        return id_, outputs

    return make


def _without(make: Maker, *keys: str) -> Maker:
    """`make` for a resource that lacks some of what its siblings give."""

    def fewer(asked: Asked) -> Made:
        id_, outputs = make(asked)
        return id_, {key: value for key, value in outputs.items() if key not in keys}

    return fewer


def _instance(asked: Asked) -> Made:
    id_, outputs = _compute("instances", "zones")(asked)
    return id_, {
        **outputs,
        "instanceId": asked.number(19),
        "currentStatus": "RUNNING",
        "cpuPlatform": "Intel Skylake",
    }


def _instance_template(asked: Asked) -> Made:
    id_, outputs = _without(_compute("instanceTemplates"), "creationTimestamp")(asked)
    return id_, {**outputs, "selfLinkUnique": f"{outputs['selfLink']}?uniqueId={asked.number(19)}"}


def _network(asked: Asked) -> Made:
    id_, outputs = _without(_compute("networks"), "creationTimestamp")(asked)
    return id_, {**outputs, "networkId": asked.number(19), "gatewayIpv4": ""}


def _subnetwork(asked: Asked) -> Made:
    id_, outputs = _compute("subnetworks", "regions")(asked)
    return id_, {**outputs, "region": _region(asked), "gatewayAddress": "10.0.0.1"}


def _address(asked: Asked) -> Made:
    id_, outputs = _compute("addresses", "regions")(asked)
    return id_, {**outputs, "address": f"203.0.113.{1 + int(asked.hex(4), 16) % 250}"}


def _router_nat(asked: Asked) -> Made:
    name = asked.physical()
    router = asked.inputs.get("router", "router")
    return f"{_project(asked)}/{_region(asked)}/{router}/{name}", {
        "name": name,
        "project": _project(asked),
        "region": _region(asked),
    }


def _service_account(asked: Asked) -> Made:
    account = asked.inputs.get("accountId", asked.name)
    email = f"{account}@{_project(asked)}.iam.gserviceaccount.com"
    id_ = f"projects/{_project(asked)}/serviceAccounts/{email}"
    return id_, {
        "email": email,
        "member": f"serviceAccount:{email}",
        "name": id_,
        "project": _project(asked),
        "uniqueId": asked.number(21),
    }


def _member(*of: str) -> Maker:
    """One role for one member of something: known by all three."""

    def make(asked: Asked) -> Made:
        keys = (*of, "role", "member")
        return "/".join(str(asked.inputs.get(key, key)) for key in keys), {"etag": asked.hex(12)}

    return make


def _custom_role(asked: Asked) -> Made:
    id_ = f"projects/{_project(asked)}/roles/{asked.inputs.get('roleId', asked.name)}"
    return id_, {"name": id_, "deleted": False, "project": _project(asked)}


def _pool(asked: Asked) -> Made:
    pool = asked.inputs.get("workloadIdentityPoolId", asked.name)
    path = f"locations/global/workloadIdentityPools/{pool}"
    return f"projects/{_project(asked)}/{path}", {
        "name": f"projects/{STAND_IN_PROJECT_NUMBER}/{path}",
        "project": _project(asked),
        "state": "ACTIVE",
    }


def _pool_provider(asked: Asked) -> Made:
    pool = asked.inputs.get("workloadIdentityPoolId", "pool")
    provider = asked.inputs.get("workloadIdentityPoolProviderId", asked.name)
    path = f"locations/global/workloadIdentityPools/{pool}/providers/{provider}"
    return f"projects/{_project(asked)}/{path}", {
        "name": f"projects/{STAND_IN_PROJECT_NUMBER}/{path}",
        "project": _project(asked),
        "state": "ACTIVE",
    }


def _repository(asked: Asked) -> Made:
    name = asked.inputs.get("repositoryId", asked.name)
    location = asked.inputs.get("location") or asked.place.google_region
    return f"projects/{_project(asked)}/locations/{location}/repositories/{name}", {
        "name": name,
        "location": location,
        "project": _project(asked),
        "registryUri": f"{location}-docker.pkg.dev/{_project(asked)}/{name}",
        "createTime": CREATED_AT,
    }


def _bucket(asked: Asked) -> Made:
    name = asked.physical()
    return name, {
        "name": name,
        "project": _project(asked),
        "url": f"gs://{name}",
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
    }


def _bucket_object(asked: Asked) -> Made:
    name = asked.physical()
    return f"{asked.inputs.get('bucket', 'bucket')}-{name}", {
        "name": name,
        "outputName": name,
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{asked.inputs.get('bucket')}/o/{name}",
    }


def _secret(asked: Asked) -> Made:
    id_ = f"projects/{_project(asked)}/secrets/{asked.inputs.get('secretId', asked.name)}"
    return id_, {"name": id_, "project": _project(asked), "createTime": CREATED_AT}


def _secret_version(asked: Asked) -> Made:
    id_ = f"{asked.inputs.get('secret', 'secret')}/versions/1"
    return id_, {"name": id_, "version": "1", "createTime": CREATED_AT}


def _service(asked: Asked) -> Made:
    return f"{_project(asked)}/{asked.inputs.get('service', asked.name)}", {"project": _project(asked)}


def _trigger(asked: Asked) -> Made:
    location = asked.inputs.get("location") or "global"
    id_ = asked.uuid()
    return f"projects/{_project(asked)}/locations/{location}/triggers/{id_}", {
        "triggerId": id_,
        "project": _project(asked),
        "createTime": CREATED_AT,
    }


def _scheduler_job(asked: Asked) -> Made:
    name = asked.physical()
    id_ = f"projects/{_project(asked)}/locations/{_region(asked)}/jobs/{name}"
    return id_, {"name": name, "project": _project(asked), "region": _region(asked), "state": "ENABLED"}


MAKERS: Final[dict[str, Maker]] = {
    "gcp:artifactregistry/repository:Repository": _repository,
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": _member("repository"),
    "gcp:compute/imageIamMember:ImageIamMember": _member("image"),
    "gcp:cloudbuild/trigger:Trigger": _trigger,
    "gcp:cloudscheduler/job:Job": _scheduler_job,
    "gcp:compute/address:Address": _address,
    "gcp:compute/disk:Disk": _compute("disks", "zones"),
    "gcp:compute/firewall:Firewall": _compute("firewalls"),
    "gcp:compute/image:Image": _compute("images"),
    "gcp:compute/instance:Instance": _instance,
    "gcp:compute/instanceTemplate:InstanceTemplate": _instance_template,
    "gcp:compute/network:Network": _network,
    "gcp:compute/resourcePolicy:ResourcePolicy": _without(_compute("resourcePolicies", "regions"), "creationTimestamp"),
    "gcp:compute/router:Router": _compute("routers", "regions"),
    "gcp:compute/routerNat:RouterNat": _router_nat,
    "gcp:compute/subnetwork:Subnetwork": _subnetwork,
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": _pool,
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": _pool_provider,
    "gcp:projects/iAMCustomRole:IAMCustomRole": _custom_role,
    "gcp:projects/iAMMember:IAMMember": _member("project"),
    "gcp:projects/service:Service": _service,
    "gcp:secretmanager/secret:Secret": _secret,
    "gcp:secretmanager/secretIamMember:SecretIamMember": _member("secretId"),
    "gcp:secretmanager/secretVersion:SecretVersion": _secret_version,
    "gcp:serviceaccount/account:Account": _service_account,
    "gcp:serviceaccount/iAMMember:IAMMember": _member("serviceAccountId"),
    "gcp:storage/bucket:Bucket": _bucket,
    "gcp:storage/bucketIAMMember:BucketIAMMember": _member("bucket"),
    "gcp:storage/bucketObject:BucketObject": _bucket_object,
}
"""How each type is answered."""
