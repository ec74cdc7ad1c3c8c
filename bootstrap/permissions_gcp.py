"""The roles of the account that deploys to Google Cloud: a row for each type that a stack declares. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

GCP: Final[Mapping[str, tuple[str, ...]]] = {
    "gcp:artifactregistry/repository:Repository": ("artifactregistry.admin",),
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": ("artifactregistry.admin",),
    "gcp:compute/firewall:Firewall": ("compute.admin",),
    "gcp:compute/image:Image": ("compute.admin",),
    "gcp:compute/imageIamMember:ImageIamMember": ("compute.admin",),
    # A machine with a service account acts as it.
    "gcp:compute/instance:Instance": ("compute.admin", "iam.serviceAccountUser"),
    "gcp:compute/network:Network": ("compute.admin",),
    "gcp:compute/resourcePolicy:ResourcePolicy": ("compute.admin",),
    "gcp:compute/router:Router": ("compute.admin",),
    "gcp:compute/routerNat:RouterNat": ("compute.admin",),
    "gcp:compute/subnetwork:Subnetwork": ("compute.admin",),
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": ("iam.workloadIdentityPoolAdmin",),
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": ("iam.workloadIdentityPoolAdmin",),
    "gcp:monitoring/alertPolicy:AlertPolicy": ("monitoring.alertPolicyEditor",),
    "gcp:monitoring/notificationChannel:NotificationChannel": ("monitoring.notificationChannelEditor",),
    "gcp:projects/iAMCustomRole:IAMCustomRole": ("iam.roleAdmin",),
    "gcp:projects/iAMMember:IAMMember": ("resourcemanager.projectIamAdmin",),
    "gcp:projects/service:Service": ("serviceusage.serviceUsageAdmin",),
    "gcp:secretmanager/secret:Secret": ("secretmanager.admin",),
    "gcp:secretmanager/secretIamMember:SecretIamMember": ("secretmanager.admin",),
    "gcp:serviceaccount/account:Account": ("iam.serviceAccountAdmin",),
    "gcp:serviceaccount/iAMMember:IAMMember": ("iam.serviceAccountAdmin",),
    "gcp:storage/bucket:Bucket": ("storage.admin",),
}
"""Type to the predefined roles that include every call of its life (Google's list of IAM roles, 2026)."""
BY_GCLOUD: Final = ("cloudbuild.builds.editor", "iam.serviceAccountUser")
"""Roles that only `gcloud compute images export` needs (`daisy_utils.py` in the Google Cloud SDK)."""
READS: Final[Mapping[str, str]] = {
    "artifactregistry.admin": "artifactregistry.reader",
    "compute.admin": "compute.viewer",
    "iam.roleAdmin": "iam.roleViewer",
    "iam.serviceAccountAdmin": "iam.serviceAccountViewer",
    "iam.workloadIdentityPoolAdmin": "iam.workloadIdentityPoolViewer",
    "monitoring.alertPolicyEditor": "monitoring.alertPolicyViewer",
    "monitoring.notificationChannelEditor": "monitoring.notificationChannelViewer",
    # It reads the policies of the project, of service accounts and of all other resources.
    "resourcemanager.projectIamAdmin": "iam.securityReviewer",
    "secretmanager.admin": "secretmanager.viewer",
    "serviceusage.serviceUsageAdmin": "serviceusage.serviceUsageViewer",
    "storage.admin": "storage.bucketViewer",
}
"""Each role of a row to the role with its reads. `iam.serviceAccountUser` has none. None of them reads a secret."""
READER: Final = tuple(sorted({*READS.values(), "serviceusage.serviceUsageConsumer"}))
"""The roles of the account that previews. Its calls count for the quota of the project, so it consumes the services."""
DEPLOYER: Final = tuple(sorted({role for roles in GCP.values() for role in roles} | {*BY_GCLOUD}))
"""The roles of the account that deploys."""
