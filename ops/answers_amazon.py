"""What AWS computes beside the inputs, one row a resource type: ids, ARNs, endpoints.

Forms are those of AWS's own documentation of each resource as the pulumi-aws 7 SDK lists its outputs (2026-11).
"""

from __future__ import annotations

import base64
from typing import Any, Final

from ops.answers_asked import CREATED_AT, Asked, Made, Maker


def _ec2(prefix: str, kind: str, id_key: str | None = None) -> Maker:
    """Something EC2 keeps under an id of the form `prefix-17 digits`."""

    def make(asked: Asked) -> Made:
        id_ = f"{prefix}-{asked.hex(17)}"
        outputs: dict[str, Any] = {"arn": asked.arn("ec2", f"{kind}/{id_}")}
        if id_key:
            outputs[id_key] = id_
        return id_, outputs

    return make


def _vpc(asked: Asked) -> Made:
    id_ = f"vpc-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("ec2", f"vpc/{id_}"),
        "defaultNetworkAclId": f"acl-{asked.hex(17, 'acl')}",
        "defaultRouteTableId": f"rtb-{asked.hex(17, 'routes')}",
        "defaultSecurityGroupId": f"sg-{asked.hex(17, 'group')}",
        "mainRouteTableId": f"rtb-{asked.hex(17, 'routes')}",
        "dhcpOptionsId": f"dopt-{asked.hex(17, 'dhcp')}",
        "ownerId": asked.place.account,
    }


def _security_group(asked: Asked) -> Made:
    id_ = f"sg-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("ec2", f"security-group/{id_}"),
        "name": asked.physical(),
        "ownerId": asked.place.account,
    }


def _nat_gateway(asked: Asked) -> Made:
    id_ = f"nat-{asked.hex(17)}"
    return id_, {"networkInterfaceId": f"eni-{asked.hex(17, 'eni')}", "publicIp": _address(asked, "203.0.113")}


def _eip(asked: Asked) -> Made:
    id_ = f"eipalloc-{asked.hex(17)}"
    return id_, {
        "allocationId": id_,
        "arn": asked.arn("ec2", f"elastic-ip/{id_}"),
        "publicIp": _address(asked, "203.0.113"),
    }


def _address(asked: Asked, network: str) -> str:
    """An address of a range that is kept for documentation (RFC 5737) or private."""
    return f"{network}.{1 + int(asked.hex(4), 16) % 250}"


def _route(asked: Asked) -> Made:
    id_ = f"r-{asked.inputs.get('routeTableId', 'rtb')}{asked.number(10)}"
    return id_, {"origin": "CreateRoute", "state": "active"}


def _launch_template(asked: Asked) -> Made:
    id_ = f"lt-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("ec2", f"launch-template/{id_}"),
        "name": asked.physical(),
        "latestVersion": 1,
        "defaultVersion": 1,
    }


def _instance(asked: Asked) -> Made:
    id_ = f"i-{asked.hex(17)}"
    address = _address(asked, "10.0.0")
    return id_, {
        "arn": asked.arn("ec2", f"instance/{id_}"),
        "instanceState": "running",
        "primaryNetworkInterfaceId": f"eni-{asked.hex(17, 'eni')}",
        "privateIp": address,
        "privateDns": f"ip-{address.replace('.', '-')}.{asked.region}.compute.internal",
    }


def _cluster(asked: Asked) -> Made:
    name = asked.physical()
    digest = asked.upper(32)
    vpc_config = dict(asked.inputs.get("vpcConfig") or {})
    vpc_config["clusterSecurityGroupId"] = f"sg-{asked.hex(17, 'cluster-group')}"
    vpc_config["vpcId"] = f"vpc-{asked.hex(17, 'vpc')}"
    authority = f"a stand-in certificate authority {asked.hex(16, 'ca')}"
    return name, {
        "name": name,
        "arn": asked.arn("eks", f"cluster/{name}"),
        "createdAt": CREATED_AT,
        "endpoint": f"https://{digest}.gr7.{asked.region}.eks.amazonaws.com",
        "certificateAuthority": {"data": base64.b64encode(authority.encode()).decode()},
        "identities": [{"oidcs": [{"issuer": f"https://oidc.eks.{asked.region}.amazonaws.com/id/{digest}"}]}],
        "platformVersion": "eks.1",
        "status": "ACTIVE",
        "vpcConfig": vpc_config,
    }


def _node_group(asked: Asked) -> Made:
    cluster = asked.inputs.get("clusterName", "cluster")
    name = asked.physical("nodeGroupName")
    uuid = asked.uuid()
    return f"{cluster}:{name}", {
        "nodeGroupName": name,
        "arn": asked.arn("eks", f"nodegroup/{cluster}/{name}/{uuid}"),
        "resources": [{"autoscalingGroups": [{"name": f"eks-{name}-{uuid}"}]}],
        "status": "ACTIVE",
    }


def _addon(asked: Asked) -> Made:
    cluster, addon = asked.inputs.get("clusterName", "cluster"), asked.inputs.get("addonName", asked.name)
    return f"{cluster}:{addon}", {
        "arn": asked.arn("eks", f"addon/{cluster}/{addon}/{asked.uuid()}"),
        "createdAt": CREATED_AT,
        "modifiedAt": CREATED_AT,
    }


def _access_entry(asked: Asked) -> Made:
    cluster, principal = asked.inputs.get("clusterName", "cluster"), str(asked.inputs.get("principalArn", ""))
    entry = f"access-entry/{cluster}/role/{asked.place.account}/{principal.rpartition('/')[2]}/{asked.uuid()}"
    return f"{cluster}:{principal}", {
        "accessEntryArn": asked.arn("eks", entry),
        "createdAt": CREATED_AT,
        "modifiedAt": CREATED_AT,
    }


def _access_policy(asked: Asked) -> Made:
    parts = (str(asked.inputs.get(key, "")) for key in ("clusterName", "principalArn", "policyArn"))
    return "#".join(parts), {"associatedAt": CREATED_AT, "modifiedAt": CREATED_AT}


def _pod_identity(asked: Asked) -> Made:
    id_ = f"a-{asked.hex(17)}"
    cluster = asked.inputs.get("clusterName", "cluster")
    return id_, {
        "associationArn": asked.arn("eks", f"podidentityassociation/{cluster}/{id_}"),
        "associationId": id_,
    }


def _role(asked: Asked) -> Made:
    name = asked.physical()
    path = asked.inputs.get("path", "/")
    return name, {
        "name": name,
        "arn": asked.global_arn("iam", f"role{path}{name}"),
        "uniqueId": f"AROA{asked.upper(17)}",
        "createDate": CREATED_AT,
    }


def _user(asked: Asked) -> Made:
    name = asked.physical()
    path = asked.inputs.get("path", "/")
    arn = asked.global_arn("iam", f"user{path}{name}")
    return name, {"name": name, "arn": arn, "uniqueId": f"AIDA{asked.upper(17)}"}


def _user_policy(asked: Asked) -> Made:
    name = asked.physical()
    return f"{asked.inputs.get('user', 'user')}:{name}", {"name": name}


def _role_policy(asked: Asked) -> Made:
    name = asked.physical()
    return f"{asked.inputs.get('role', 'role')}:{name}", {"name": name}


def _policy(asked: Asked) -> Made:
    name = asked.physical()
    arn = asked.global_arn("iam", f"policy{asked.inputs.get('path', '/')}{name}")
    return arn, {"name": name, "arn": arn, "policyId": f"ANPA{asked.upper(17)}"}


def _policy_attachment(asked: Asked) -> Made:
    return f"{asked.inputs.get('role', 'role')}/{asked.inputs.get('policyArn', '')}", {}


def _instance_profile(asked: Asked) -> Made:
    name = asked.physical()
    return name, {
        "name": name,
        "arn": asked.global_arn("iam", f"instance-profile/{name}"),
        "uniqueId": f"AIPA{asked.upper(17)}",
        "createDate": CREATED_AT,
    }


def _oidc_provider(asked: Asked) -> Made:
    host = str(asked.inputs.get("url", "")).removeprefix("https://")
    arn = asked.global_arn("iam", f"oidc-provider/{host}")
    return arn, {"arn": arn}


def _key(asked: Asked) -> Made:
    id_ = asked.uuid()
    return id_, {"arn": asked.arn("kms", f"key/{id_}"), "keyId": id_}


def _key_alias(asked: Asked) -> Made:
    name = asked.physical() if asked.inputs.get("name") else f"alias/{asked.physical()}"
    target = str(asked.inputs.get("targetKeyId", "")).rpartition("/")[2]
    return name, {
        "name": name,
        "arn": asked.arn("kms", name),
        "targetKeyArn": asked.arn("kms", f"key/{target}"),
    }


def _repository(asked: Asked) -> Made:
    name = asked.physical()
    return name, {
        "name": name,
        "arn": asked.arn("ecr", f"repository/{name}"),
        "registryId": asked.place.account,
        "repositoryUrl": f"{asked.place.account}.dkr.ecr.{asked.region}.amazonaws.com/{name}",
    }


def _of_repository(asked: Asked) -> Made:
    """A policy that a repository has one of: known by the repository's name."""
    return str(asked.inputs.get("repository", asked.name)), {"registryId": asked.place.account}


def _pull_through(asked: Asked) -> Made:
    return str(asked.inputs.get("ecrRepositoryPrefix", asked.name)), {"registryId": asked.place.account}


def _registry(asked: Asked) -> Made:
    return asked.place.account, {"registryId": asked.place.account}


def _image_builder(kind: str) -> Maker:
    """Something EC2 Image Builder keeps by name, with its version where it has one."""

    def make(asked: Asked) -> Made:
        name = asked.physical()
        version = asked.inputs.get("version")
        tail = f"/{version}" + ("/1" if kind == "component" else "") if version else ""
        arn = asked.arn("imagebuilder", f"{kind}/{name.lower().replace(' ', '-')}{tail}")
        return arn, {"arn": arn, "name": name}

    return make


def _image(asked: Asked) -> Made:
    arn = asked.arn("imagebuilder", f"image/{asked.name}/1.0.0/1")
    ami = {"image": f"ami-{asked.hex(17)}", "name": asked.name, "region": asked.region}
    return arn, {
        "arn": arn,
        "name": asked.name,
        "version": "1.0.0/1",
        "dateCreated": CREATED_AT,
        "outputResources": [{"amis": [{**ami, "accountId": asked.place.account}]}],
    }


def _image_pipeline(asked: Asked) -> Made:
    arn, outputs = _image_builder("image-pipeline")(asked)
    return arn, {**outputs, "dateCreated": CREATED_AT, "platform": "Linux"}


def _bucket(asked: Asked) -> Made:
    name = asked.physical("bucket")
    return name, {
        "bucket": name,
        "arn": f"arn:aws:s3:::{name}",
        "bucketDomainName": f"{name}.s3.amazonaws.com",
        "bucketRegionalDomainName": f"{name}.s3.{asked.region}.amazonaws.com",
    }


def _of_bucket(asked: Asked) -> Made:
    return str(asked.inputs.get("bucket", asked.name)), {}


def _log_group(asked: Asked) -> Made:
    name = asked.physical()
    return name, {"name": name, "arn": asked.arn("logs", f"log-group:{name}")}


def _named(service: str, kind: str) -> Maker:
    """Something known by its name, with an ARN of the form `service:…:kind` and the name."""

    def make(asked: Asked) -> Made:
        name = asked.physical()
        return name, {"name": name, "arn": asked.arn(service, f"{kind}{name}")}

    return make


def _event_target(asked: Asked) -> Made:
    target = str(asked.inputs.get("targetId") or asked.uuid())
    return f"{asked.inputs.get('rule', 'rule')}-{target}", {"targetId": target}


def _queue(asked: Asked) -> Made:
    name = asked.physical()
    url = f"https://sqs.{asked.region}.amazonaws.com/{asked.place.account}/{name}"
    return url, {"name": name, "arn": asked.arn("sqs", name), "url": url}


def _topic(asked: Asked) -> Made:
    name = asked.physical()
    arn = asked.arn("sns", name)
    return arn, {"name": name, "arn": arn, "owner": asked.place.account}


def _topic_subscription(asked: Asked) -> Made:
    arn = f"{asked.inputs.get('topic', '')}:{asked.uuid()}"
    return arn, {"arn": arn, "ownerId": asked.place.account}


def _parameter(asked: Asked) -> Made:
    name = asked.physical()
    return name, {"name": name, "arn": asked.arn("ssm", f"parameter/{name.lstrip('/')}"), "version": 1}


def _file_system(asked: Asked) -> Made:
    id_ = f"fs-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("elasticfilesystem", f"file-system/{id_}"),
        "dnsName": f"{id_}.efs.{asked.region}.amazonaws.com",
        "ownerId": asked.place.account,
    }


def _access_point(asked: Asked) -> Made:
    id_ = f"fsap-{asked.hex(17)}"
    return id_, {
        "arn": asked.arn("elasticfilesystem", f"access-point/{id_}"),
        "ownerId": asked.place.account,
    }


def _mount_target(asked: Asked) -> Made:
    file_system = asked.inputs.get("fileSystemId", "fs")
    return f"fsmt-{asked.hex(17)}", {
        "dnsName": f"{file_system}.efs.{asked.region}.amazonaws.com",
        "networkInterfaceId": f"eni-{asked.hex(17, 'eni')}",
        "ownerId": asked.place.account,
    }


def _schedule(asked: Asked) -> Made:
    name = asked.physical()
    group = asked.inputs.get("groupName", "default")
    return f"{group}/{name}", {"name": name, "arn": asked.arn("scheduler", f"schedule/{group}/{name}")}


def _asg_tag(asked: Asked) -> Made:
    tag = asked.inputs.get("tag") or {}
    return f"{asked.inputs.get('autoscalingGroupName', 'group')},{tag.get('key', 'key')}", {}


def _service_quota(asked: Asked) -> Made:
    service, quota = asked.inputs.get("serviceCode", ""), asked.inputs.get("quotaCode", "")
    return f"{service}/{quota}", {"arn": asked.arn("servicequotas", f"{service}/{quota}")}


def _budget(asked: Asked) -> Made:
    name = asked.physical()
    return f"{asked.place.account}:{name}", {
        "name": name,
        "accountId": asked.place.account,
        "arn": asked.global_arn("budgets", f"budget/{name}"),
    }


def _association(prefix: str) -> Maker:
    """A link between two things: an id, and nothing else to know."""
    return lambda asked: (f"{prefix}-{asked.hex(17)}", {})


MAKERS: Final[dict[str, Maker]] = {
    "aws:autoscaling/tag:Tag": _asg_tag,
    "aws:budgets/budget:Budget": _budget,
    "aws:cloudwatch/eventRule:EventRule": _named("events", "rule/"),
    "aws:cloudwatch/eventTarget:EventTarget": _event_target,
    "aws:cloudwatch/logGroup:LogGroup": _log_group,
    "aws:cloudwatch/metricAlarm:MetricAlarm": _named("cloudwatch", "alarm:"),
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": _security_group,
    "aws:ec2/eip:Eip": _eip,
    "aws:ec2/flowLog:FlowLog": _ec2("fl", "vpc-flow-log"),
    "aws:ec2/instance:Instance": _instance,
    "aws:ec2/internetGateway:InternetGateway": _ec2("igw", "internet-gateway"),
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:ec2/natGateway:NatGateway": _nat_gateway,
    "aws:ec2/route:Route": _route,
    "aws:ec2/routeTable:RouteTable": _ec2("rtb", "route-table"),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _association("rtbassoc"),
    "aws:ec2/securityGroup:SecurityGroup": _security_group,
    "aws:ec2/subnet:Subnet": _ec2("subnet", "subnet"),
    "aws:ec2/vpc:Vpc": _vpc,
    "aws:ec2/vpcEndpoint:VpcEndpoint": _ec2("vpce", "vpc-endpoint"),
    "aws:ecr/lifecyclePolicy:LifecyclePolicy": _of_repository,
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule": _pull_through,
    "aws:ecr/registryScanningConfiguration:RegistryScanningConfiguration": _registry,
    "aws:ecr/repository:Repository": _repository,
    "aws:ecr/repositoryPolicy:RepositoryPolicy": _of_repository,
    "aws:efs/accessPoint:AccessPoint": _access_point,
    "aws:efs/fileSystem:FileSystem": _file_system,
    "aws:efs/mountTarget:MountTarget": _mount_target,
    "aws:eks/accessEntry:AccessEntry": _access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _access_policy,
    "aws:eks/addon:Addon": _addon,
    "aws:eks/cluster:Cluster": _cluster,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _pod_identity,
    "aws:iam/instanceProfile:InstanceProfile": _instance_profile,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": _oidc_provider,
    "aws:iam/policy:Policy": _policy,
    "aws:iam/role:Role": _role,
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:iam/user:User": _user,
    "aws:iam/userPolicy:UserPolicy": _user_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _policy_attachment,
    "aws:imagebuilder/component:Component": _image_builder("component"),
    "aws:imagebuilder/distributionConfiguration:DistributionConfiguration": _image_builder(
        "distribution-configuration"
    ),
    "aws:imagebuilder/image:Image": _image,
    "aws:imagebuilder/imagePipeline:ImagePipeline": _image_pipeline,
    "aws:imagebuilder/imageRecipe:ImageRecipe": _image_builder("image-recipe"),
    "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": _image_builder(
        "infrastructure-configuration"
    ),
    "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy": _image_builder("lifecycle-policy"),
    "aws:kms/alias:Alias": _key_alias,
    "aws:kms/key:Key": _key,
    "aws:s3/bucket:Bucket": _bucket,
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration": _of_bucket,
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls": _of_bucket,
    "aws:s3/bucketPolicy:BucketPolicy": _of_bucket,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _of_bucket,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _of_bucket,
    "aws:s3/bucketVersioning:BucketVersioning": _of_bucket,
    "aws:scheduler/schedule:Schedule": _schedule,
    "aws:scheduler/scheduleGroup:ScheduleGroup": _named("scheduler", "schedule-group/"),
    "aws:servicequotas/serviceQuota:ServiceQuota": _service_quota,
    "aws:sns/topic:Topic": _topic,
    "aws:sns/topicSubscription:TopicSubscription": _topic_subscription,
    "aws:sqs/queue:Queue": _queue,
    "aws:ssm/parameter:Parameter": _parameter,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _ec2(
        "sgr", "security-group-rule", "securityGroupRuleId"
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _ec2(
        "sgr", "security-group-rule", "securityGroupRuleId"
    ),
}
"""How each type is answered."""
