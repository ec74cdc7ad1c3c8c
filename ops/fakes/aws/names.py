"""AWS type tokens that more than one module names."""

from __future__ import annotations

from typing import Final

VPC: Final = "aws:ec2/vpc:Vpc"
SUBNET: Final = "aws:ec2/subnet:Subnet"
INTERNET_GATEWAY: Final = "aws:ec2/internetGateway:InternetGateway"
NAT_GATEWAY: Final = "aws:ec2/natGateway:NatGateway"
ROUTE_TABLE: Final = "aws:ec2/routeTable:RouteTable"
ROUTE_TABLE_ASSOCIATION: Final = "aws:ec2/routeTableAssociation:RouteTableAssociation"
ROUTE: Final = "aws:ec2/route:Route"
ADDRESS: Final = "aws:ec2/eip:Eip"
SECURITY_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
DEFAULT_SECURITY_GROUP: Final = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
FLOW_LOG: Final = "aws:ec2/flowLog:FlowLog"
LAUNCH_TEMPLATE: Final = "aws:ec2/launchTemplate:LaunchTemplate"
INSTANCE: Final = "aws:ec2/instance:Instance"

CLUSTER: Final = "aws:eks/cluster:Cluster"
NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
ADD_ON: Final = "aws:eks/addon:Addon"
ACCESS_ENTRY: Final = "aws:eks/accessEntry:AccessEntry"
ACCESS_POLICY: Final = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
POD_IDENTITY: Final = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
LOG_GROUP: Final = "aws:cloudwatch/logGroup:LogGroup"

ROLE: Final = "aws:iam/role:Role"
ATTACHMENT: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
INSTANCE_PROFILE: Final = "aws:iam/instanceProfile:InstanceProfile"
INLINE_POLICY: Final = "aws:iam/rolePolicy:RolePolicy"
USER: Final = "aws:iam/user:User"
USER_POLICY: Final = "aws:iam/userPolicy:UserPolicy"
KEY: Final = "aws:kms/key:Key"
OIDC_PROVIDER: Final = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
POLICY: Final = "aws:iam/policy:Policy"
BUCKET: Final = "aws:s3/bucket:Bucket"

REPOSITORY: Final = "aws:ecr/repository:Repository"

SCHEDULE: Final = "aws:scheduler/schedule:Schedule"
FUNCTION: Final = "aws:lambda/function:Function"
TOPIC: Final = "aws:sns/topic:Topic"
SUBSCRIPTION: Final = "aws:sns/topicSubscription:TopicSubscription"
QUEUE: Final = "aws:sqs/queue:Queue"
ALARM: Final = "aws:cloudwatch/metricAlarm:MetricAlarm"
