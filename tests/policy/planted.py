"""Planted violations: one resource each, as a plan records it, with the rule that must refuse it."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any, Final

Planted = tuple[str, str, dict[str, Any]]
"""The rule, the type and the inputs."""

TAGS: Final = {"Project": "gpu-ci", "Environment": "staging", "ManagedBy": "pulumi"}
LABELS: Final = {"project": "gpu-ci", "environment": "staging", "managed-by": "pulumi"}
TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
GROUP_RULE: Final = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
FIREWALL: Final = "gcp:compute/firewall:Firewall"
CLUSTER: Final = "aws:eks/cluster:Cluster"
GKE: Final = "gcp:container/cluster:Cluster"
GCE: Final = "gcp:compute/instance:Instance"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"
DEPLOYMENT: Final = "kubernetes:apps/v1:Deployment"
DAEMON_SET: Final = "kubernetes:apps/v1:DaemonSet"
NAMESPACE: Final = "kubernetes:core/v1:Namespace"
CLUSTER_ROLE: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
CLUSTER_BINDING: Final = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding"
ROLE: Final = "aws:iam/role:Role"
ROLE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
MEMBER: Final = "gcp:projects/iAMMember:IAMMember"
PROVIDER: Final = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
ISSUER: Final = "token.actions.githubusercontent.com"
GITHUB: Final = f"arn:aws:iam::123456789012:oidc-provider/{ISSUER}"
ACCESS_KEY: Final = "AKIA" + "A" * 16
PRIVATE_KEY: Final = "-----BEGIN RSA " + "PRIVATE KEY-----"
HARDENED: Final = {"httpTokens": "required", "httpPutResponseHopLimit": 1}
MACHINE: Final[dict[str, Any]] = {"labels": LABELS, "scheduling": {"maxRunDuration": {"seconds": 3600}}}
NODES: Final[dict[str, Any]] = {
    "metadataOptions": HARDENED,
    "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true"}}],
    "tagSpecifications": [{"resourceType": kind, "tags": TAGS} for kind in ("instance", "volume")],
    "tags": TAGS,
}


def b64(text: str | bytes) -> str:
    """Return a text in base64."""
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def policy(effect: str = "Allow", **statement: Any) -> str:
    """Return a document with one statement."""
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": effect, **statement}]})


def inline(actions: Any, resources: Any = "*", **more: Any) -> dict[str, Any]:
    """Return an inline policy."""
    return {"role": "r", "policy": policy(Action=actions, Resource=resources, **more)}


def trust(principal: Any, condition: Any = None) -> dict[str, Any]:
    """Return a role with this trust."""
    stated = {"Condition": condition} if condition else {}
    return {"tags": TAGS, "assumeRolePolicy": policy(Principal=principal, Action="sts:AssumeRole", **stated)}


def federated(subject: str | None) -> dict[str, Any]:
    """Return a role that GitHub's workflows may assume."""
    condition: dict[str, Any] = {"StringEquals": {f"{ISSUER}:aud": "sts.amazonaws.com"}}
    if subject is not None:
        condition["StringLike"] = {f"{ISSUER}:sub": subject}
    return trust({"Federated": GITHUB}, condition)


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """Return a workload with one container."""
    containers = [{"name": "main", "image": "ghcr.io/x/y:1.2.3", **(container or {})}]
    return {"spec": {"template": {"spec": {**spec, "containers": containers}}}}


def chart(**values: Any) -> dict[str, Any]:
    """Return a release of a pinned chart."""
    return {"chart": "x", "version": "1.2.3", "values": values}


def scale_set(spec: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Return a release of a scale set."""
    stated = {"maxRunners": 2, "template": {"spec": {"activeDeadlineSeconds": 3600, **spec}}, **values}
    return {"chart": "oci://ghcr.io/actions/gha-runner-scale-set", "version": "0.14.2", "values": stated}


NETWORK: Final[list[Planted]] = [
    ("no-ingress-from-everywhere", GROUP, {"tags": TAGS, "ingress": [{"cidrBlocks": ["0.0.0.0/0"]}]}),
    ("no-ingress-from-everywhere", GROUP, {"tags": TAGS, "ingress": [{"ipv6CidrBlocks": ["::/0"]}]}),
    ("no-ingress-from-everywhere", GROUP, {"tags": TAGS, "ingress": [{"cidrBlocks": ["0.0.0.0/1", "128.0.0.0/1"]}]}),
    ("no-ingress-from-everywhere", GROUP, {"tags": TAGS, "ingress": [{"fromPort": 22, "toPort": 22}]}),
    ("no-ingress-from-everywhere", GROUP_RULE, {"tags": TAGS, "cidrIpv4": "0.0.0.0/0"}),
    ("no-ingress-from-everywhere", GROUP_RULE, {"tags": TAGS, "cidrIpv6": "2000::/3"}),
    (
        "no-ingress-from-everywhere",
        "aws:ec2/securityGroupRule:SecurityGroupRule",
        {"type": "ingress", "cidrBlocks": ["0.0.0.0/0"]},
    ),
    ("no-ingress-from-everywhere", "aws:ec2/managedPrefixList:ManagedPrefixList", {"entries": [{"cidr": "0.0.0.0/0"}]}),
    (
        "no-ingress-from-everywhere",
        "aws:ec2/networkAclRule:NetworkAclRule",
        {"ruleAction": "allow", "fromPort": 0, "toPort": 65535, "cidrBlock": "0.0.0.0/0"},
    ),
    ("no-ingress-from-everywhere", FIREWALL, {"sourceRanges": ["0.0.0.0/0"], "allows": [{"protocol": "tcp"}]}),
    ("no-ingress-from-everywhere", FIREWALL, {"allows": [{"protocol": "tcp", "ports": ["22"]}]}),
    ("no-ingress-from-everywhere", CLUSTER, {"tags": TAGS, "vpcConfig": {"endpointPublicAccess": True}}),
    ("no-ingress-from-everywhere", CLUSTER, {"tags": TAGS, "vpcConfig": {"publicAccessCidrs": ["0.0.0.0/0"]}}),
    ("no-public-service", "kubernetes:core/v1:Service", {"spec": {"type": "NodePort"}}),
    ("no-public-service", "kubernetes:networking.k8s.io/v1:Ingress", {}),
    ("no-public-service", RELEASE, chart(service={"type": "LoadBalancer"})),
    ("no-public-service", RELEASE, chart(server={"ingress": {"enabled": True}})),
    (
        "network-policies-have-peers",
        "kubernetes:networking.k8s.io/v1:NetworkPolicy",
        {"spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "egress": [{}]}},
    ),
    ("no-public-service", "aws:lb/loadBalancer:LoadBalancer", {}),
    ("no-public-service", "gcp:compute/forwardingRule:ForwardingRule", {"loadBalancingScheme": "EXTERNAL_MANAGED"}),
    ("machines-have-no-public-address", "aws:ec2/subnet:Subnet", {"tags": TAGS, "mapPublicIpOnLaunch": True}),
    ("machines-have-no-public-address", "aws:ec2/instance:Instance", {"associatePublicIpAddress": True}),
    (
        "machines-have-no-public-address",
        TEMPLATE,
        {**NODES, "networkInterfaces": [{"associatePublicIpAddress": "true"}]},
    ),
    ("machines-have-no-public-address", "aws:eks/nodeGroup:NodeGroup", {"remoteAccess": {"ec2SshKey": "k"}}),
]

CREDENTIALS: Final[list[Planted]] = [
    ("no-static-credential", "aws:iam/accessKey:AccessKey", {"user": "u"}),
    ("no-static-credential", "aws:iam/userLoginProfile:UserLoginProfile", {"user": "u"}),
    ("no-static-credential", "aws:ec2/keyPair:KeyPair", {"publicKey": "ssh-ed25519 AAAA"}),
    ("no-static-credential", "gcp:serviceaccount/key:Key", {"serviceAccountId": "s"}),
    ("no-static-credential", "gcp:storage/hmacKey:HmacKey", {"serviceAccountEmail": "s"}),
    ("no-static-credential", "pulumi:providers:aws", {"secretKey": "x"}),
    ("no-static-credential", "pulumi:providers:gcp", {"credentials": "{}"}),
    ("no-static-credential", "pulumi:providers:github", {"token": "x"}),
    ("no-static-credential", TEMPLATE, {**NODES, "userData": f"export AWS_ACCESS_KEY_ID={ACCESS_KEY}"}),
    ("no-static-credential", TEMPLATE, {**NODES, "userData": b64(f"#!/bin/sh\nexport AWS_ACCESS_KEY_ID={ACCESS_KEY}")}),
    (
        "no-static-credential",
        TEMPLATE,
        {**NODES, "userData": b64(gzip.compress(f"#!/bin/sh\nexport TOKEN=ghp_{'a' * 36}\n".encode(), mtime=0))},
    ),
    (
        "no-static-credential",
        TEMPLATE,
        {**NODES, "userData": b64(f"#cloud-config\nwrite_files:\n- content: {b64(PRIVATE_KEY)}\n  encoding: b64\n")},
    ),
    ("no-static-credential", GCE, {**MACHINE, "metadataStartupScript": f"echo hf_{'a' * 34} > /root/token"}),
    ("no-static-credential", "kubernetes:core/v1:ConfigMap", {"data": {"id_rsa": PRIVATE_KEY}}),
    ("no-static-credential", RELEASE, chart(webhook="https://deploy:hunter2@registry.example/x")),
    ("no-static-credential", DEPLOYMENT, pod({"env": [{"name": "X", "value": ACCESS_KEY}]})),
    ("no-secret-in-a-variable", DEPLOYMENT, pod({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]})),
    ("no-secret-in-a-variable", RELEASE, chart(env={"API_TOKEN": "abcdef123456"})),
    ("no-secret-in-a-variable", "kubernetes:core/v1:ConfigMap", {"data": {"db-password": "hunter2"}}),
    (
        "no-secret-in-a-variable",
        "aws:lambda/function:Function",
        {"environment": {"variables": {"API_TOKEN": "abcdef123456"}}},
    ),
    (
        "no-secret-in-a-variable",
        "aws:ssm/parameter:Parameter",
        {"tags": TAGS, "type": "String", "name": "/db/password"},
    ),
    ("no-secret-in-a-variable", RELEASE, scale_set(pod({"env": [{"name": "HF_TOKEN", "value": "abc"}]}))),
]

PERMISSIONS: Final[list[Planted]] = [
    ("no-administrator-policy", ATTACHMENT, {"policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}),
    ("no-administrator-policy", ATTACHMENT, {"policyArn": "arn:aws:iam::aws:policy/PowerUserAccess"}),
    ("no-administrator-policy", ATTACHMENT, {"policyArn": "arn:aws:iam::aws:policy/IAMFullAccess"}),
    ("no-administrator-policy", ATTACHMENT, {"policyArn": "arn:aws:iam::aws:policy/AmazonEC2FullAccess"}),
    (
        "no-administrator-policy",
        "aws:iam/userPolicyAttachment:UserPolicyAttachment",
        {"policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"},
    ),
    (
        "no-administrator-policy",
        ROLE,
        {**trust({"Service": "x"}), "managedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]},
    ),
    ("no-unbounded-permission", ROLE_POLICY, inline("*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("*:*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("iam:*", "arn:aws:iam::123456789012:role/x")),
    ("no-unbounded-permission", ROLE_POLICY, inline("IAM:*")),
    ("no-unbounded-permission", ROLE_POLICY, inline(["kms:*"])),
    ("no-unbounded-permission", ROLE_POLICY, inline("kms:Decrypt")),
    ("no-unbounded-permission", ROLE_POLICY, inline("ec2:*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("iam:PassRole")),
    ("no-unbounded-permission", ROLE_POLICY, inline("iam:PassRole", "arn:aws:iam::*:role/*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("iam:Pass*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("iam:PassRole", "arn:aws:iam::123456789012:role/*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("kms:Decrypt", "arn:aws:kms:us-west-2:123456789012:key/*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("ec2*")),
    ("no-unbounded-permission", ROLE_POLICY, inline("sts:AssumeRole")),
    ("no-unbounded-permission", ROLE_POLICY, inline("secretsmanager:GetSecretValue")),
    ("no-unbounded-permission", ROLE_POLICY, inline("ec2:TerminateInstances")),
    ("no-unbounded-permission", ROLE_POLICY, {"policy": policy(NotAction="iam:*", Resource="*")}),
    ("no-unbounded-permission", ROLE_POLICY, {"policy": policy(Action="s3:*", NotResource="arn:aws:s3:::x")}),
    ("no-unbounded-permission", "aws:iam/userPolicy:UserPolicy", inline("*")),
    ("no-unbounded-permission", "aws:iam/groupPolicy:GroupPolicy", inline("*")),
    ("no-unbounded-permission", "aws:iam/policy:Policy", {"tags": TAGS, **inline("*")}),
    (
        "no-unbounded-permission",
        ROLE,
        {**trust({"Service": "x"}), "inlinePolicies": [{"name": "x", "policy": policy(Action="*", Resource="*")}]},
    ),
    ("no-broad-role", MEMBER, {"role": "roles/owner", "member": "user:x@example.org"}),
    ("no-broad-role", "gcp:projects/iAMBinding:IAMBinding", {"role": "roles/editor", "members": []}),
    ("no-broad-role", MEMBER, {"role": "roles/iam.serviceAccountTokenCreator", "member": "user:x@example.org"}),
    ("no-broad-role", MEMBER, {"role": "roles/resourcemanager.projectIamAdmin", "member": "user:x@example.org"}),
    (
        "no-broad-role",
        "gcp:projects/iAMPolicy:IAMPolicy",
        {"policyData": json.dumps({"bindings": [{"role": "roles/owner", "members": ["user:x@example.org"]}]})},
    ),
    ("no-broad-role", "gcp:projects/iAMCustomRole:IAMCustomRole", {"permissions": ["iam.serviceAccounts.actAs"]}),
    (
        "no-broad-role",
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        {"permissions": ["compute.instances.get", "resourcemanager.projects.setIamPolicy"]},
    ),
    ("no-cluster-administrator", CLUSTER_BINDING, {"roleRef": {"name": "cluster-admin"}}),
    (
        "no-cluster-administrator",
        CLUSTER_BINDING,
        {"roleRef": {"name": "view"}, "subjects": [{"kind": "Group", "name": "system:authenticated"}]},
    ),
    (
        "no-cluster-administrator",
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
        {"roleRef": {"name": "x"}, "subjects": [{"kind": "ServiceAccount", "name": "default"}]},
    ),
    ("no-cluster-administrator", CLUSTER_ROLE, {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]}]}),
    ("no-cluster-administrator", CLUSTER_ROLE, {"rules": [{"resources": ["pods"], "verbs": ["*"]}]}),
    ("no-cluster-administrator", CLUSTER_ROLE, {"rules": [{"resources": ["secrets"], "verbs": ["get", "list"]}]}),
    ("no-cluster-administrator", CLUSTER_ROLE, {"rules": [{"resources": ["users"], "verbs": ["impersonate"]}]}),
    (
        "no-cluster-administrator",
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        {"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"},
    ),
    ("no-cluster-administrator", "aws:eks/accessEntry:AccessEntry", {"kubernetesGroups": ["system:masters"]}),
    ("no-cluster-administrator", CLUSTER, {"accessConfig": {"bootstrapClusterCreatorAdminPermissions": True}}),
]

CALLERS: Final[list[Planted]] = [
    ("no-public-caller", ROLE, trust("*")),
    ("no-public-caller", ROLE, trust({"AWS": "*"})),
    ("no-public-caller", ROLE, trust({"AWS": ["arn:aws:iam::123456789012:role/x", "*"]})),
    (
        "no-public-caller",
        "aws:s3/bucketPolicy:BucketPolicy",
        {"policy": policy(Principal="*", Action="s3:GetObject", Resource="arn:aws:s3:::x/*")},
    ),
    (
        "no-public-caller",
        "aws:ecr/repositoryPolicy:RepositoryPolicy",
        {"policy": policy(Principal={"AWS": "*"}, Action="ecr:BatchGetImage")},
    ),
    (
        "no-public-caller",
        "aws:kms/key:Key",
        {"tags": TAGS, "policy": policy(Principal={"AWS": "*"}, Action="kms:*", Resource="*")},
    ),
    (
        "no-public-caller",
        "aws:sqs/queuePolicy:QueuePolicy",
        {"policy": policy(Principal="*", Action="sqs:*", Condition={"StringLike": {"aws:PrincipalArn": "*"}})},
    ),
    (
        "no-public-caller",
        "aws:s3/bucketPolicy:BucketPolicy",
        {"policy": policy(NotPrincipal={"AWS": "arn:aws:iam::123456789012:root"}, Action="s3:*", Resource="*")},
    ),
    ("no-public-caller", "aws:lambda/permission:Permission", {"principal": "*"}),
    ("no-public-caller", "aws:lambda/functionUrl:FunctionUrl", {"authorizationType": "NONE"}),
    ("trust-has-conditions", ROLE, trust({"AWS": "arn:aws:iam::210987654321:root"})),
    ("trust-has-conditions", ROLE, trust({"AWS": "210987654321"})),
    ("trust-has-conditions", ROLE, trust({"Service": "pods.eks.amazonaws.com"})),
    ("trust-has-conditions", ROLE, federated(None)),
    ("trust-has-conditions", ROLE, trust({"Federated": GITHUB})),
    ("trust-has-conditions", ROLE, federated("*")),
    ("trust-has-conditions", ROLE, federated("repo:*")),
    ("trust-has-conditions", ROLE, federated("repo:example-org/*")),
    ("trust-has-conditions", ROLE, federated("repo:example-org/vision:*")),
    ("trust-has-conditions", ROLE, federated("repo:example-org/*:ref:refs/heads/main")),
    ("no-public-member", "gcp:storage/bucketIAMMember:BucketIAMMember", {"role": "x", "member": "allUsers"}),
    (
        "no-public-member",
        "gcp:artifactregistry/repositoryIamBinding:RepositoryIamBinding",
        {"members": ["allAuthenticatedUsers"]},
    ),
    ("no-public-member", "gcp:storage/objectACL:ObjectACL", {"roleEntities": ["READER:allUsers"]}),
    ("no-public-member", "gcp:storage/bucketACL:BucketACL", {"predefinedAcl": "publicRead"}),
    (
        "no-public-member",
        "gcp:compute/imageIamPolicy:ImageIamPolicy",
        {"policyData": json.dumps({"bindings": [{"role": "x", "members": ["allUsers"]}]})},
    ),
    ("federation-has-a-condition", PROVIDER, {"oidc": {"issuerUri": f"https://{ISSUER}"}}),
    ("federation-has-a-condition", PROVIDER, {"attributeCondition": "true"}),
    ("federation-has-a-condition", PROVIDER, {"attributeCondition": "assertion.repository_owner == 'example-org'"}),
    (
        "federation-has-a-condition",
        "gcp:serviceaccount/iAMMember:IAMMember",
        {"member": "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/*"},
    ),
]

MACHINES: Final[list[Planted]] = [
    ("metadata-needs-a-token", TEMPLATE, {**NODES, "metadataOptions": {**HARDENED, "httpTokens": "optional"}}),
    ("metadata-needs-a-token", TEMPLATE, {**NODES, "metadataOptions": {**HARDENED, "httpPutResponseHopLimit": 2}}),
    ("metadata-needs-a-token", TEMPLATE, {**NODES, "metadataOptions": {**HARDENED, "httpPutResponseHopLimit": 64.0}}),
    ("metadata-needs-a-token", "aws:ec2/instance:Instance", {"tags": TAGS}),
    (
        "metadata-needs-a-token",
        "aws:ec2/instanceMetadataDefaults:InstanceMetadataDefaults",
        {"httpTokens": "optional"},
    ),
    ("machines-have-no-legacy-access", GCE, {**MACHINE, "metadata": {"serial-port-enable": "TRUE"}}),
    ("machines-have-no-legacy-access", GCE, {**MACHINE, "metadata": {"enable-oslogin": "FALSE"}}),
    ("machines-have-no-legacy-access", GCE, {**MACHINE, "metadata": {"ssh-keys": "me:ssh-ed25519 AAAA"}}),
    ("machines-have-no-legacy-access", GCE, {**MACHINE, "networkInterfaces": [{"network": "default"}]}),
    ("machines-have-no-legacy-access", GCE, {**MACHINE, "canIpForward": True}),
    ("machines-have-no-legacy-access", GCE, {"labels": LABELS}),
    (
        "machines-have-no-legacy-access",
        "gcp:compute/projectMetadata:ProjectMetadata",
        {"metadata": {"enable-oslogin": "false"}},
    ),
    (
        "machines-have-no-legacy-access",
        "gcp:compute/projectMetadataItem:ProjectMetadataItem",
        {"key": "serial-port-enable", "value": "1"},
    ),
    ("machines-have-no-legacy-access", GKE, {"nodeConfig": {"metadata": {"disable-legacy-endpoints": "false"}}}),
    ("machines-have-their-own-account", GCE, {**MACHINE, "serviceAccount": {"scopes": ["cloud-platform"]}}),
    (
        "machines-have-their-own-account",
        GCE,
        {**MACHINE, "serviceAccount": {"email": "1-compute@developer.gserviceaccount.com", "scopes": ["compute-rw"]}},
    ),
    ("machines-have-their-own-account", "gcp:container/nodePool:NodePool", {"nodeConfig": {"machineType": "g2"}}),
    ("gke-has-no-legacy-access", GKE, {"enableLegacyAbac": True}),
    ("gke-has-no-legacy-access", GKE, {"masterAuth": {"clientCertificateConfig": {"issueClientCertificate": True}}}),
    ("gke-has-no-legacy-access", GKE, {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]}}),
    ("gke-has-no-legacy-access", GKE, {"privateClusterConfig": {"enablePrivateNodes": True}}),
]

DATA: Final[list[Planted]] = [
    ("volumes-are-encrypted", TEMPLATE, {**NODES, "blockDeviceMappings": [{"ebs": {"encrypted": "false"}}]}),
    ("volumes-are-encrypted", TEMPLATE, {**NODES, "blockDeviceMappings": []}),
    ("volumes-are-encrypted", "aws:ebs/volume:Volume", {"tags": TAGS}),
    ("volumes-are-encrypted", "aws:efs/fileSystem:FileSystem", {"tags": TAGS, "encrypted": False}),
    ("volumes-are-encrypted", "aws:rds/instance:Instance", {"storageEncrypted": False}),
    ("volumes-are-encrypted", "aws:ec2/amiCopy:AmiCopy", {}),
    (
        "volumes-are-encrypted",
        "kubernetes:storage.k8s.io/v1:StorageClass",
        {"provisioner": "ebs.csi.aws.com", "parameters": {"type": "gp3"}},
    ),
    ("data-is-encrypted", "aws:cloudwatch/logGroup:LogGroup", {"tags": TAGS, "retentionInDays": 7}),
    ("data-is-encrypted", "aws:sns/topic:Topic", {"tags": TAGS}),
    ("data-is-encrypted", "aws:kms/key:Key", {"tags": TAGS, "enableKeyRotation": False}),
    ("data-is-encrypted", "aws:sqs/queue:Queue", {"tags": TAGS, "sqsManagedSseEnabled": False}),
    ("data-is-encrypted", "aws:ebs/encryptionByDefault:EncryptionByDefault", {"enabled": False}),
    ("data-is-encrypted", "aws:ec2/imageBlockPublicAccess:ImageBlockPublicAccess", {"state": "unblocked"}),
    ("data-is-encrypted", CLUSTER, {"tags": TAGS}),
    ("data-is-encrypted", GKE, {}),
    ("buckets-are-not-public", "aws:s3/bucketAcl:BucketAcl", {"acl": "public-read"}),
    ("buckets-are-not-public", "aws:s3/bucketV2:BucketV2", {"acl": "authenticated-read"}),
    (
        "buckets-are-not-public",
        "aws:s3/bucketAcl:BucketAcl",
        {
            "accessControlPolicy": {
                "grants": [
                    {"grantee": {"uri": "http://acs.amazonaws.com/groups/global/AllUsers"}, "permission": "READ"}
                ]
            }
        },
    ),
    (
        "buckets-are-not-public",
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        {"blockPublicAcls": True, "blockPublicPolicy": False, "ignorePublicAcls": True, "restrictPublicBuckets": True},
    ),
    ("buckets-are-not-public", "aws:s3/bucketWebsiteConfiguration:BucketWebsiteConfiguration", {}),
    ("buckets-are-not-public", "gcp:storage/bucket:Bucket", {"labels": LABELS, "uniformBucketLevelAccess": True}),
    ("buckets-are-not-public", "gcp:storage/bucket:Bucket", {"labels": LABELS, "publicAccessPrevention": "enforced"}),
    ("images-are-not-public", "aws:ecrpublic/repository:Repository", {}),
    ("images-are-not-public", "aws:ec2/amiLaunchPermission:AmiLaunchPermission", {"group": "all"}),
    (
        "images-are-not-public",
        "aws:ec2/snapshotCreateVolumePermission:SnapshotCreateVolumePermission",
        {"accountId": "all"},
    ),
    (
        "images-are-not-public",
        "aws:imagebuilder/distributionConfiguration:DistributionConfiguration",
        {
            "tags": TAGS,
            "distributions": [{"amiDistributionConfiguration": {"launchPermission": {"userGroups": ["all"]}}}],
        },
    ),
    ("images-are-scanned", "aws:ecr/repository:Repository", {"tags": TAGS, "imageTagMutability": "IMMUTABLE"}),
    (
        "images-are-scanned",
        "aws:ecr/repository:Repository",
        {"tags": TAGS, "imageScanningConfiguration": {"scanOnPush": True}, "imageTagMutability": "MUTABLE"},
    ),
    ("logs-end", "aws:cloudwatch/logGroup:LogGroup", {"tags": TAGS, "kmsKeyId": "k"}),
    ("everything-is-tagged", GROUP, {"tags": {"Project": "gpu-ci"}}),
    ("launched-machines-are-tagged", TEMPLATE, {**NODES, "tagSpecifications": []}),
]

PODS: Final[list[Planted]] = [
    ("pods-are-confined", DEPLOYMENT, pod({"securityContext": {"privileged": True}})),
    ("pods-are-confined", DAEMON_SET, pod(hostNetwork=True)),
    ("pods-are-confined", DAEMON_SET, pod(hostPID=True)),
    ("pods-are-confined", DEPLOYMENT, pod(hostIPC=True)),
    ("pods-are-confined", DEPLOYMENT, pod(volumes=[{"name": "root", "hostPath": {"path": "/"}}])),
    ("pods-are-confined", DEPLOYMENT, pod({"ports": [{"containerPort": 80, "hostPort": 80}]})),
    ("pods-are-confined", DEPLOYMENT, pod({"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}})),
    ("pods-are-confined", DEPLOYMENT, pod({"securityContext": {"allowPrivilegeEscalation": True}})),
    ("pods-are-confined", DEPLOYMENT, pod(securityContext={"seccompProfile": {"type": "Unconfined"}})),
    ("pods-are-confined", RELEASE, chart(securityContext={"privileged": True})),
    ("pods-are-confined", RELEASE, scale_set({"hostNetwork": True})),
    (
        "pods-are-confined",
        "kubernetes:core/v1:ConfigMap",
        {"data": {"job.yaml": json.dumps({"spec": {"containers": [{"securityContext": {"privileged": True}}]}})}},
    ),
    ("no-docker-in-docker", RELEASE, scale_set({}, containerMode={"type": "dind"})),
    ("no-docker-in-docker", RELEASE, scale_set({"containers": [{"name": "dind", "image": "docker:27.3-dind"}]})),
    (
        "no-docker-in-docker",
        DEPLOYMENT,
        pod({"volumeMounts": [{"name": "docker", "mountPath": "/var/run/docker.sock"}]}),
    ),
    ("no-docker-in-docker", DEPLOYMENT, pod({"env": [{"name": "DOCKER_HOST", "value": "tcp://localhost:2375"}]})),
    ("namespaces-enforce-pod-security", NAMESPACE, {"metadata": {"name": "x"}}),
    (
        "namespaces-enforce-pod-security",
        NAMESPACE,
        {"metadata": {"name": "x", "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}},
    ),
    ("pods-end", "kubernetes:batch/v1:Job", {"spec": {"template": {}}}),
    ("pods-end", RELEASE, scale_set({"activeDeadlineSeconds": None})),
    ("pods-end", RELEASE, scale_set({}, maxRunners=None)),
    ("charts-are-pinned", RELEASE, {"chart": "x"}),
    ("charts-are-pinned", RELEASE, {"chart": "x", "version": ">=1.2.3"}),
    ("charts-are-pinned", "kubernetes:helm.sh/v4:Chart", {"chart": "x", "version": "1.x"}),
    ("charts-are-pinned", RELEASE, {**chart(), "repositoryOpts": {"repo": "http://charts.example"}}),
    ("nothing-is-latest", DEPLOYMENT, pod({"image": "nvidia/cuda:latest"})),
    ("nothing-is-latest", DEPLOYMENT, pod({"image": "nvidia/cuda"})),
    ("nothing-is-latest", DEPLOYMENT, pod({"image": "localhost:5000/cuda:main"})),
    ("nothing-is-latest", DEPLOYMENT, pod(initContainers=[{"name": "init", "image": "busybox"}])),
    ("nothing-is-latest", RELEASE, chart(image={"repository": "x", "tag": "latest"})),
    ("nothing-is-latest", "aws:eks/nodeGroup:NodeGroup", {"launchTemplate": {"version": "$Latest"}}),
]

PLANTED: Final = [*NETWORK, *CREDENTIALS, *PERMISSIONS, *CALLERS, *MACHINES, *DATA, *PODS]
