"""The resource types that support tags or labels.

Source: the SDKs pulumi-aws 7 and pulumi-gcp 10. A test compares these lists with their classes.
"""

from __future__ import annotations

from typing import Final

TAGGED: Final = frozenset(
    {
        "aws:budgets/budget:Budget",
        "aws:cloudwatch/eventRule:EventRule",
        "aws:cloudwatch/logGroup:LogGroup",
        "aws:cloudwatch/metricAlarm:MetricAlarm",
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        "aws:ec2/eip:Eip",
        "aws:ec2/flowLog:FlowLog",
        "aws:ec2/instance:Instance",
        "aws:ec2/internetGateway:InternetGateway",
        "aws:ec2/launchTemplate:LaunchTemplate",
        "aws:ec2/natGateway:NatGateway",
        "aws:ec2/routeTable:RouteTable",
        "aws:ec2/securityGroup:SecurityGroup",
        "aws:ec2/subnet:Subnet",
        "aws:ec2/vpc:Vpc",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "aws:ecr/repository:Repository",
        "aws:efs/accessPoint:AccessPoint",
        "aws:efs/fileSystem:FileSystem",
        "aws:eks/accessEntry:AccessEntry",
        "aws:eks/addon:Addon",
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        "aws:iam/instanceProfile:InstanceProfile",
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        "aws:iam/policy:Policy",
        "aws:iam/role:Role",
        "aws:iam/user:User",
        "aws:imagebuilder/component:Component",
        "aws:imagebuilder/distributionConfiguration:DistributionConfiguration",
        "aws:imagebuilder/image:Image",
        "aws:imagebuilder/imagePipeline:ImagePipeline",
        "aws:imagebuilder/imageRecipe:ImageRecipe",
        "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration",
        "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy",
        "aws:kms/key:Key",
        "aws:lambda/function:Function",
        "aws:s3/bucket:Bucket",
        "aws:scheduler/scheduleGroup:ScheduleGroup",
        "aws:sns/topic:Topic",
        "aws:sqs/queue:Queue",
        "aws:ssm/parameter:Parameter",
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    }
)
"""AWS types with `tags`."""

LABELLED: Final = frozenset(
    {
        "gcp:artifactregistry/repository:Repository",
        "gcp:compute/address:Address",
        "gcp:compute/disk:Disk",
        "gcp:compute/image:Image",
        "gcp:compute/instance:Instance",
        "gcp:compute/instanceTemplate:InstanceTemplate",
        "gcp:secretmanager/secret:Secret",
        "gcp:storage/bucket:Bucket",
    }
)
"""Google Cloud types with `labels`."""
