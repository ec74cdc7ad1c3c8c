"""The resources that a stack needs before its first update: the bucket of its state, its key, access for pipelines.

The stack cannot declare these resources: its own state is in the bucket. This program is a Pulumi project of its own,
with its state in a local folder. Its resources have the tag `Project: gpu-ci-bootstrap`, so that the role that deploys,
which may change everything with the tags of the stack, cannot change them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import pulumi
from pulumi import Output, ResourceOptions
from pulumi.runtime.config import CONFIG, get_config_env

from bootstrap import previews
from bootstrap.grants import PATH, Place
from bootstrap.permissions_aws import deploy_policies, push_policy
from bootstrap.permissions_gcp import DEPLOYER
from bootstrap.settings import PROJECT, settings_of
from components.aws.documents import allow, document
from components.aws.github_trust import AUDIENCE, HOST, provider_arn, trust_policy
from gpu_ci.stack_file.identity import PROJECT as STACKS
from gpu_ci.stack_file.identity import Identity, own_tags

if TYPE_CHECKING:
    from bootstrap.settings import AwsSettings, BootstrapSettings, DeploySettings, GcpSettings, PushSettings

SESSION_SECONDS: Final = 5400
"""The time limit of a deployment in `.github/workflows/ci.yml`."""
ROTATION: Final = f"{90 * 24 * 3600}s"
"""The time after which Cloud KMS creates a new version of a key."""

Variables = dict[str, "str | Output[str]"]


def run() -> None:
    """Read the settings, declare the resources, and export the variables of the pipelines.

    Raises:
        gpu_ci.stack_file.reading.load.StackFileError: the settings are invalid.

    """
    stack = pulumi.get_stack()
    settings = settings_of({**get_config_env(), **CONFIG.get()}, stack, f"bootstrap/Pulumi.{stack}.yaml")
    made: list[dict[str, Variables]] = []
    if settings.gcp is not None:
        made.append(on_gcp(settings, settings.gcp, stack))
    if settings.aws is not None:
        made.append(on_aws(settings, settings.aws, stack))
    variables: dict[str, Variables] = {"deploy": {}}
    for jobs, values in ((jobs, values) for one in made for jobs, values in one.items()):
        variables.setdefault(jobs, {}).update(values)
    pulumi.export("secrets_provider", variables["deploy"].pop("secrets_provider"))
    for kind in previews.KINDS:
        if kind in variables:
            variables[kind]["PULUMI_BACKEND_URL"] = variables["deploy"]["PULUMI_BACKEND_URL"]
    for jobs, values in variables.items():
        pulumi.export(f"{jobs}_variables", values)


def _trust(provider: str, jobs: DeploySettings | PushSettings) -> str:
    trusted = trust_policy(
        provider,
        jobs.repository,
        jobs.owner_id,
        jobs.repository_id,
        environment=jobs.environment,
        ref=f"refs/heads/{jobs.branch}",
    )
    return json.dumps(trusted, sort_keys=True)


def on_aws(settings: BootstrapSettings, account: AwsSettings, stack: str) -> dict[str, Variables]:
    """Declare the state, the key and the roles on AWS; return the variables of each kind of jobs."""
    import pulumi_aws as aws

    prefix = Identity(project=STACKS, stack=stack).prefix
    provider = aws.Provider(
        "aws",
        region=account.region,
        # Refuse the credentials of another account before anything is created.
        allowed_account_ids=[account.account],
        default_tags={"tags": own_tags(PROJECT, stack)},
    )
    opts = ResourceOptions(provider=provider)
    protected = ResourceOptions(provider=provider, protect=True)
    place = Place(account=account.account, region=account.region, prefix=prefix, tags=own_tags(STACKS, stack))

    key = aws.kms.Key(
        "state",
        description=f"State and secrets of {prefix}",
        enable_key_rotation=True,
        deletion_window_in_days=30,
        opts=protected,
    )
    alias = f"alias/bootstrap/{prefix}"
    aws.kms.Alias("state", name=alias, target_key_id=key.key_id, opts=protected)
    name = f"{prefix}-{account.account}"
    bucket = aws.s3.Bucket("state", bucket=name, opts=protected)
    arn = f"arn:aws:s3:::{name}"
    of_bucket = ResourceOptions(provider=provider, protect=True, deleted_with=bucket)
    aws.s3.BucketVersioning(
        "state", bucket=bucket.bucket, versioning_configuration={"status": "Enabled"}, opts=of_bucket
    )
    aws.s3.BucketServerSideEncryptionConfiguration(
        "state",
        bucket=bucket.bucket,
        rules=[
            {
                "apply_server_side_encryption_by_default": {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn},
                "bucket_key_enabled": True,
            }
        ],
        opts=of_bucket,
    )
    closed = aws.s3.BucketPublicAccessBlock(
        "state",
        bucket=bucket.bucket,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
        opts=of_bucket,
    )
    unencrypted = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn, f"{arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    aws.s3.BucketPolicy(
        "state",
        bucket=bucket.bucket,
        policy=document(unencrypted),
        # S3 refuses two changes of a bucket's access at the same time.
        opts=ResourceOptions.merge(of_bucket, ResourceOptions(depends_on=[closed])),
    )

    federation = provider_arn(account.account)
    trusting = opts
    if account.oidc_provider == "create":
        github = aws.iam.OpenIdConnectProvider(
            "github", url=f"https://{HOST}", client_id_lists=[AUDIENCE], opts=protected
        )
        trusting = ResourceOptions(provider=provider, depends_on=[github])
    deploys = aws.iam.Role(
        "deploy",
        name=f"{prefix}-deploy",
        path=PATH,
        description=f"Deploys {prefix}",
        assume_role_policy=_trust(federation, settings.deploy),
        max_session_duration=SESSION_SECONDS,
        opts=trusting,
    )
    aws.iam.RolePolicy(
        "deploy-state",
        role=deploys.name,
        policy=key.arn.apply(
            lambda key_arn: document(
                allow(["s3:ListBucket"], [arn]),
                allow(["s3:DeleteObject", "s3:GetObject", "s3:PutObject"], [f"{arn}/*"]),
                allow(["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], [key_arn]),
            )
        ),
        opts=opts,
    )
    for chapter, text in deploy_policies(place).items():
        policy = aws.iam.Policy(f"deploy-{chapter}", name=f"{prefix}-{chapter}", path=PATH, policy=text, opts=opts)
        aws.iam.RolePolicyAttachment(f"deploy-{chapter}", role=deploys.name, policy_arn=policy.arn, opts=opts)
    variables: dict[str, Variables] = {
        "deploy": {
            "AWS_DEPLOY_ROLE_ARN": deploys.arn,
            "AWS_REGION": account.region,
            "PULUMI_BACKEND_URL": f"s3://{name}?region={account.region}",
            "secrets_provider": f"awskms://{alias}?region={account.region}",
        }
    }
    for kind, role in previews.on_aws(settings, place, federation, (arn, key.arn), trusting).items():
        variables[kind] = {"AWS_PREVIEW_ROLE_ARN": role, "AWS_REGION": account.region}
    if settings.images is not None:
        pushes = aws.iam.Role(
            "images",
            name=f"{prefix}-images",
            path=PATH,
            description=f"Pushes container images to the repositories of {prefix}",
            assume_role_policy=_trust(federation, settings.images),
            opts=trusting,
        )
        aws.iam.RolePolicy("images", role=pushes.name, policy=push_policy(place), opts=opts)
        variables["images"] = {"AWS_IMAGES_ROLE_ARN": pushes.arn, "AWS_REGION": account.region}
    return variables


def on_gcp(settings: BootstrapSettings, account: GcpSettings, stack: str) -> dict[str, Variables]:
    """Declare the APIs, the accounts of jobs and their federation; and the state, if no other cloud has it.

    Returns:
        The variables of each kind of jobs.

    """
    import pulumi_gcp as gcp

    from components.gcp.apis import Apis, ApisArgs
    from components.gcp.federation import Federation, FederationArgs
    from components.gcp.provider import gcp_provider

    identity = Identity(project=PROJECT, stack=stack)
    prefix = Identity(project=STACKS, stack=stack).prefix
    provider = gcp_provider(project=account.project, region=account.region, labels=identity.labels)
    providers = ResourceOptions(providers=[provider])
    keeps_state = settings.aws is None
    names = ["iam", "iamcredentials", "sts", *(["cloudkms", "storage"] if keeps_state else [])]
    apis = Apis("apis", ApisArgs(project=account.project, apis=names), providers)
    after = ResourceOptions.merge(providers, ResourceOptions(depends_on=[apis]))

    deploys = gcp.serviceaccount.Account(
        "deploy",
        project=account.project,
        account_id=f"{prefix}-deploy",
        display_name=f"Deploys {prefix}",
        opts=after,
    )
    federation = Federation(
        "federation",
        FederationArgs(
            project=account.project,
            # The stack's own pool, of `gpu-ci:github-federation`, is named after the prefix.
            pool=f"{prefix}-deploy",
            owner_id=settings.deploy.owner_id,
            repositories={"deploy": settings.deploy.repository_id},
            branches=(settings.deploy.branch,),
            environment=settings.deploy.environment,
        ),
        after,
    )
    gcp.serviceaccount.IAMMember(
        "deploy",
        service_account_id=deploys.name,
        role="roles/iam.workloadIdentityUser",
        member=federation.trusted[f"deploy-{settings.deploy.branch}"],
        opts=after,
    )
    for role in DEPLOYER:
        gcp.projects.IAMMember(
            f"deploy-{role}", project=account.project, role=f"roles/{role}", member=deploys.member, opts=after
        )
    variables: dict[str, Variables] = {
        "deploy": {
            "GCP_DEPLOY_SERVICE_ACCOUNT": deploys.email,
            "GCP_WORKLOAD_IDENTITY_PROVIDER": federation.provider_name,
        }
    }
    users = {"deploy": (deploys.member, "objectUser", "cryptoKeyEncrypterDecrypter")}
    for kind, (reads, provider_name) in previews.on_gcp(settings, account.project, prefix, after).items():
        variables[kind] = {"GCP_PREVIEW_SERVICE_ACCOUNT": reads.email, "GCP_WORKLOAD_IDENTITY_PROVIDER": provider_name}
        users[kind] = (reads.member, "objectViewer", "cryptoKeyDecrypter")
    if keeps_state:
        variables["deploy"] |= _state_on_gcp(account, prefix, users, after)
    return variables


def _state_on_gcp(
    account: GcpSettings, prefix: str, users: Mapping[str, tuple[Output[str], str, str]], opts: ResourceOptions
) -> Variables:
    """Declare the bucket and the key, and the roles of their users; return the location of the state and of the key."""
    import pulumi_gcp as gcp

    protected = ResourceOptions.merge(opts, ResourceOptions(protect=True))
    name = f"{account.project}-{prefix}-state"
    bucket = gcp.storage.Bucket(
        "state",
        project=account.project,
        name=name,
        location=account.region.upper(),
        uniform_bucket_level_access=True,
        public_access_prevention="enforced",
        versioning={"enabled": True},
        force_destroy=False,
        opts=protected,
    )
    ring = gcp.kms.KeyRing(
        "state", project=account.project, name=f"{prefix}-state", location=account.region, opts=protected
    )
    key = gcp.kms.CryptoKey("state", name="secrets", key_ring=ring.id, rotation_period=ROTATION, opts=protected)
    for user, (member, of_objects, of_key) in users.items():
        gcp.storage.BucketIAMMember(
            f"{user}-state", bucket=bucket.name, role=f"roles/storage.{of_objects}", member=member, opts=opts
        )
        gcp.kms.CryptoKeyIAMMember(
            f"{user}-state", crypto_key_id=key.id, role=f"roles/cloudkms.{of_key}", member=member, opts=opts
        )
    return {
        "PULUMI_BACKEND_URL": f"gs://{name}",
        "secrets_provider": Output.concat("gcpkms://", key.id),
    }
