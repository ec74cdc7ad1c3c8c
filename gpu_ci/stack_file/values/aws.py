"""Values of networks and clusters on AWS that another tool manages."""

from __future__ import annotations

from typing import Annotated

from gpu_ci.stack_file.values.general import Matching

VpcId = Annotated[
    str,
    Matching(
        r"vpc-([0-9a-f]{8}|[0-9a-f]{17})",
        "a VPC's id",
        "write vpc- and its 8 or 17 hexadecimal digits, as in vpc-0123456789abcdef0",
    ),
]
EksEndpoint = Annotated[
    str,
    Matching(
        r"https://[0-9A-F]{32}\.[a-z0-9]+\.[a-z0-9-]+\.eks\.amazonaws\.com",
        "the endpoint of an EKS cluster",
        "write what aws eks describe-cluster --name NAME --query cluster.endpoint prints",
    ),
]
CertificateAuthority = Annotated[
    str,
    Matching(
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{200,8000}={0,2}",
        "a certificate in base64",
        "write what aws eks describe-cluster --name NAME --query cluster.certificateAuthority.data prints",
    ),
]
ClusterName = Annotated[
    str,
    Matching(
        r"(?!gpu-ci-)[0-9A-Za-z][A-Za-z0-9_-]{0,99}",
        "the name of an EKS cluster that another tool manages",
        "write its name; names that begin with gpu-ci- are those of stacks, which cannot share a cluster",
    ),
]
AddOnName = Annotated[
    str, Matching(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", "the name of an add-on", "write it as EKS does, as in vpc-cni")
]
