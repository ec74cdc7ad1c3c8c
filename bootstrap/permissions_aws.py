"""The permissions of pipelines on AWS: a row for each type that a stack declares, with the calls of its life.

A row has the actions with which the provider creates, reads, updates, tags and deletes a resource (the sources of
hashicorp/terraform-provider-aws 6, and AWS, "Service Authorization Reference", 2026). Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bootstrap.grants import LINKED, Grant, Place, any_, document, identities, keys, named, roles

LIMIT: Final = 6144
"""The largest number of characters of a managed policy, without white space."""

_PASS: Final = roles("PassRole", "passed")
_LINKED: Final = Grant(
    service="iam",
    verbs=("CreateServiceLinkedRole",),
    resources=tuple(f"arn:aws:iam::{{account}}:role/aws-service-role/{service}/*" for service in LINKED),
)
_EC2_TAGS: Final = any_("ec2", "CreateTags DeleteTags DescribeTags")
_SECURITY_GROUP: Final = any_("ec2", "DescribeNetworkInterfaces DescribeSecurityGroupRules DescribeSecurityGroups")
_EKS: Final = "cluster/{prefix} access-entry/{prefix}/* addon/{prefix}/* nodegroup/{prefix}/*"
_EKS_ALL: Final = f"{_EKS} podidentityassociation/{{prefix}}/*"
_EKS_TAGS: Final = named("eks", _EKS_ALL, "ListTagsForResource TagResource UntagResource")
_IMAGE_BUILDER_TAGS: Final = named("imagebuilder", "*/{prefix}-*", "ListTagsForResource TagResource UntagResource")


def _ec2(verbs: str, *more: Grant) -> tuple[Grant, ...]:
    return (any_("ec2", verbs), _EC2_TAGS, *more)


def _image_builder(noun: str, verbs: str = "Create Delete Get") -> tuple[Grant, ...]:
    return (
        named("imagebuilder", "*/{prefix}-*", " ".join(f"{verb}{noun}" for verb in verbs.split())),
        _IMAGE_BUILDER_TAGS,
        _LINKED,
    )


AWS: Final[Mapping[str, tuple[Grant, ...]]] = {
    "aws:autoscaling/tag:Tag": (
        any_("autoscaling", "DescribeAutoScalingGroups DescribeTags"),
        # EKS names the group after its node group.
        named("autoscaling", "autoScalingGroup:*:autoScalingGroupName/eks-*", "CreateOrUpdateTags DeleteTags"),
    ),
    "aws:cloudwatch/logGroup:LogGroup": (
        any_("logs", "DescribeLogGroups"),
        named(
            "logs",
            "log-group:*{prefix}*",
            "AssociateKmsKey CreateLogGroup DeleteLogGroup DeleteRetentionPolicy DisassociateKmsKey"
            " ListTagsForResource PutRetentionPolicy TagResource UntagResource",
        ),
    ),
    "aws:cloudwatch/metricAlarm:MetricAlarm": (
        any_("cloudwatch", "DescribeAlarms"),
        named(
            "cloudwatch",
            "alarm:{prefix}-*",
            "DeleteAlarms ListTagsForResource PutMetricAlarm TagResource UntagResource",
        ),
    ),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _ec2(
        "AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress RevokeSecurityGroupEgress"
        " RevokeSecurityGroupIngress",
        _SECURITY_GROUP,
    ),
    "aws:ec2/eip:Eip": _ec2(
        "AllocateAddress AssociateAddress DescribeAddresses DescribeAddressesAttribute DisassociateAddress"
        " ReleaseAddress"
    ),
    "aws:ec2/flowLog:FlowLog": _ec2("CreateFlowLogs DeleteFlowLogs DescribeFlowLogs", _PASS),
    "aws:ec2/instance:Instance": _ec2(
        "AssociateIamInstanceProfile CancelSpotInstanceRequests DescribeIamInstanceProfileAssociations DescribeImages"
        " DescribeInstanceAttribute DescribeSpotInstanceRequests"
        " DescribeInstanceCreditSpecifications DescribeInstanceStatus DescribeInstanceTypes DescribeInstances"
        " DescribeLaunchTemplateVersions DescribeLaunchTemplates DescribeNetworkInterfaces DescribeVolumes"
        " DescribeVolumesModifications DisassociateIamInstanceProfile ModifyInstanceAttribute"
        " ModifyInstanceMaintenanceOptions ModifyInstanceMetadataOptions ModifyVolume MonitorInstances"
        " ReplaceIamInstanceProfileAssociation RunInstances StartInstances StopInstances TerminateInstances"
        " UnmonitorInstances",
        _PASS,
        _LINKED,
        # The exact image of `resolve:ssm:`.
        Grant(
            service="ssm",
            verbs=("GetParameters",),
            resources=("arn:aws:ssm:{region}::parameter/aws/service/*",),
        ),
    ),
    "aws:ec2/internetGateway:InternetGateway": _ec2(
        "AttachInternetGateway CreateInternetGateway DeleteInternetGateway DescribeInternetGateways"
        " DetachInternetGateway"
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": _ec2(
        "CreateLaunchTemplate CreateLaunchTemplateVersion DeleteLaunchTemplate DescribeLaunchTemplateVersions"
        " DescribeLaunchTemplates ModifyLaunchTemplate"
    ),
    "aws:ec2/natGateway:NatGateway": _ec2(
        "AssociateNatGatewayAddress CreateNatGateway DeleteNatGateway DescribeNatGateways DisassociateNatGatewayAddress"
    ),
    "aws:ec2/route:Route": _ec2("CreateRoute DeleteRoute DescribeRouteTables ReplaceRoute"),
    "aws:ec2/routeTable:RouteTable": _ec2(
        "CreateRoute CreateRouteTable DeleteRoute DeleteRouteTable DescribeRouteTables DisassociateRouteTable"
        " ReplaceRoute"
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _ec2(
        "AssociateRouteTable DescribeRouteTables DisassociateRouteTable ReplaceRouteTableAssociation"
    ),
    "aws:ec2/securityGroup:SecurityGroup": _ec2(
        "AuthorizeSecurityGroupEgress AuthorizeSecurityGroupIngress CreateSecurityGroup DeleteSecurityGroup"
        " RevokeSecurityGroupEgress RevokeSecurityGroupIngress",
        _SECURITY_GROUP,
    ),
    "aws:ec2/subnet:Subnet": _ec2(
        "CreateSubnet DeleteSubnet DescribeNetworkInterfaces DescribeSubnets ModifySubnetAttribute"
    ),
    "aws:ec2/tag:Tag": (_EC2_TAGS,),
    "aws:ec2/vpc:Vpc": _ec2(
        "CreateVpc DeleteVpc DescribeNetworkAcls DescribeRouteTables DescribeSecurityGroups DescribeVpcAttribute"
        " DescribeVpcs ModifyVpcAttribute"
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _ec2(
        "CreateVpcEndpoint DeleteVpcEndpoints DescribePrefixLists DescribeVpcEndpoints ModifyVpcEndpoint"
    ),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": (
        named("ecr", "repository/{prefix}/*", "DeleteLifecyclePolicy GetLifecyclePolicy PutLifecyclePolicy"),
    ),
    "aws:ecr/repository:Repository": (
        named(
            "ecr",
            "repository/{prefix}/*",
            "CreateRepository DeleteRepository DescribeRepositories ListTagsForResource PutImageScanningConfiguration"
            " PutImageTagMutability TagResource UntagResource",
        ),
    ),
    "aws:eks/accessEntry:AccessEntry": (
        named("eks", _EKS, "CreateAccessEntry DeleteAccessEntry DescribeAccessEntry UpdateAccessEntry"),
        _EKS_TAGS,
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": (
        named("eks", _EKS, "AssociateAccessPolicy DisassociateAccessPolicy ListAssociatedAccessPolicies"),
    ),
    "aws:eks/addon:Addon": (
        named("eks", _EKS, "CreateAddon DeleteAddon DescribeAddon DescribeUpdate UpdateAddon"),
        # An add-on creates the binding of its role as the caller.
        named(
            "eks", _EKS_ALL, "CreatePodIdentityAssociation DeletePodIdentityAssociation UpdatePodIdentityAssociation"
        ),
        _EKS_TAGS,
        _PASS,
    ),
    "aws:eks/cluster:Cluster": (
        named(
            "eks",
            _EKS,
            "AssociateEncryptionConfig CreateCluster DeleteCluster DescribeCluster DescribeUpdate UpdateClusterConfig"
            " UpdateClusterVersion",
        ),
        _EKS_TAGS,
        keys("CreateGrant DescribeKey"),
        _PASS,
        _LINKED,
    ),
    "aws:eks/nodeGroup:NodeGroup": (
        named(
            "eks",
            _EKS,
            "CreateNodegroup DeleteNodegroup DescribeNodegroup DescribeUpdate UpdateNodegroupConfig"
            " UpdateNodegroupVersion",
        ),
        _EKS_TAGS,
        # EKS starts a machine from the launch template as the caller, without the machine (a dry run).
        any_("ec2", "CreateTags DescribeLaunchTemplateVersions DescribeSubnets RunInstances"),
        _PASS,
        _LINKED,
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": (
        named(
            "eks",
            _EKS_ALL,
            "CreatePodIdentityAssociation DeletePodIdentityAssociation DescribePodIdentityAssociation"
            " UpdatePodIdentityAssociation",
        ),
        _EKS_TAGS,
        _PASS,
    ),
    "aws:iam/instanceProfile:InstanceProfile": (
        identities("instance-profile", "CreateInstanceProfile TagInstanceProfile", "request-tags"),
        identities(
            "instance-profile",
            "AddRoleToInstanceProfile DeleteInstanceProfile GetInstanceProfile RemoveRoleFromInstanceProfile"
            " UntagInstanceProfile",
        ),
        _PASS,
    ),
    "aws:iam/role:Role": (
        roles("CreateRole TagRole", "request-tags"),
        roles(
            "DeleteRole GetRole ListAttachedRolePolicies ListInstanceProfilesForRole ListRolePolicies UntagRole"
            " UpdateAssumeRolePolicy UpdateRole UpdateRoleDescription"
        ),
    ),
    "aws:iam/rolePolicy:RolePolicy": (roles("DeleteRolePolicy GetRolePolicy PutRolePolicy"),),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": (
        roles("AttachRolePolicy", "attached"),
        roles("DetachRolePolicy ListAttachedRolePolicies"),
    ),
    "aws:iam/user:User": (
        named(
            "iam",
            "user/{prefix}-* user/*/{prefix}-*",
            "CreateUser DeleteUser GetUser ListGroupsForUser TagUser UntagUser UpdateUser",
            iam=True,
        ),
    ),
    "aws:iam/userPolicy:UserPolicy": (
        named("iam", "user/{prefix}-* user/*/{prefix}-*", "DeleteUserPolicy GetUserPolicy PutUserPolicy", iam=True),
    ),
    "aws:imagebuilder/component:Component": _image_builder("Component"),
    "aws:imagebuilder/distributionConfiguration:DistributionConfiguration": _image_builder(
        "DistributionConfiguration", "Create Delete Get Update"
    ),
    "aws:imagebuilder/image:Image": (*_image_builder("Image"), _PASS),
    "aws:imagebuilder/imageRecipe:ImageRecipe": _image_builder("ImageRecipe"),
    "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": (
        *_image_builder("InfrastructureConfiguration", "Create Delete Get Update"),
        _PASS,
    ),
    "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy": (
        *_image_builder("LifecyclePolicy", "Create Delete Get Update"),
        _PASS,
    ),
    "aws:kms/alias:Alias": (
        any_("kms", "ListAliases"),
        named("kms", "alias/{prefix}*", "CreateAlias DeleteAlias UpdateAlias"),
        keys("CreateAlias DeleteAlias UpdateAlias"),
    ),
    "aws:kms/key:Key": (
        Grant(service="kms", verbs=("CreateKey", "TagResource"), resources=("*",), condition="request-tags"),
        keys(
            "DescribeKey EnableKeyRotation GetKeyPolicy GetKeyRotationStatus ListResourceTags PutKeyPolicy"
            " ScheduleKeyDeletion UntagResource UpdateKeyDescription"
        ),
    ),
    "aws:lambda/function:Function": (
        named(
            "lambda",
            "function:{prefix}-*",
            "CreateFunction DeleteFunction GetFunction GetFunctionCodeSigningConfig ListTags ListVersionsByFunction"
            " TagResource UntagResource UpdateFunctionCode UpdateFunctionConfiguration",
        ),
        _PASS,
    ),
    "aws:scheduler/schedule:Schedule": (
        named("scheduler", "schedule/default/{prefix}-*", "CreateSchedule DeleteSchedule GetSchedule UpdateSchedule"),
        _PASS,
    ),
    "aws:sns/topic:Topic": (
        named(
            "sns",
            "{prefix}-*",
            "CreateTopic DeleteTopic GetTopicAttributes ListTagsForResource SetTopicAttributes TagResource"
            " UntagResource",
        ),
    ),
    "aws:sns/topicSubscription:TopicSubscription": (
        named("sns", "{prefix}-*", "GetSubscriptionAttributes SetSubscriptionAttributes Subscribe Unsubscribe"),
    ),
    "aws:sqs/queue:Queue": (
        named(
            "sqs",
            "{prefix}-*",
            "CreateQueue DeleteQueue GetQueueAttributes ListQueueTags SetQueueAttributes TagQueue UntagQueue",
        ),
    ),
}
"""Type to the calls of its life."""

CHAPTERS: Final[Mapping[str, tuple[str, ...]]] = {
    "cluster": ("ecr", "eks"),
    "keys": ("iam:instance-profile", "iam:user", "kms"),
    "machines": ("autoscaling", "ec2", "imagebuilder", "ssm"),
    "operation": ("cloudwatch", "lambda", "logs", "scheduler", "sns", "sqs"),
    "roles": ("iam:role",),
}
"""The managed policies of the roles that deploy and preview, by name: each has the actions on some subjects."""


def deploy_policies(place: Place) -> dict[str, str]:
    """Return the policies of the role that deploys a stack, by name: the union of all rows."""
    return by_chapter([grant for row in AWS.values() for grant in row], place)


def by_chapter(grants: Sequence[Grant], place: Place) -> dict[str, str]:
    """Return the policies of a role with these permissions, by name."""
    return {
        name: document([grant for grant in grants if grant.subject in subjects], place)
        for name, subjects in CHAPTERS.items()
    }


def push_policy(place: Place) -> str:
    """Return the policy of the role that pushes container images to the repositories of the stack.

    Machine images need no role of their own: they are resources of the stack, so the role that deploys builds them.
    """
    push = named(
        "ecr",
        "repository/{prefix}/*",
        "BatchCheckLayerAvailability BatchGetImage CompleteLayerUpload DescribeImages GetDownloadUrlForLayer"
        " InitiateLayerUpload PutImage UploadLayerPart",
    )
    return document([any_("ecr", "GetAuthorizationToken"), push], place)
