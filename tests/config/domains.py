"""Tables of values at the edge of every field of the stack file: refused ones, and accepted ones.

A path is one of `FULL`, the stack with every section, and `/` separates its steps. A path that ends with `KEY` is that
of a map's keys: the values are the name of one more entry, with the value of the first. Fields whose types are closed
(`true` or `false`, a choice of words) have refused values in `CLOSED`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY: Final = "{key}"
NEEDS: Final = {"gpu": "t4", "cpu": 3, "memory": "12Gi", "cuda": "12.9"}

FULL: Final[Mapping[str, Any]] = {
    "cirun/aws": True,
    "cirun/access": {
        "core": {
            "repository": "vision",
            "runners": ["cirun-gcp-gpu", "cirun-aws-gpu"],
            "teams": ["core"],
            "roles": ["maintain"],
            "users": ["octocat"],
            "pull-requests": True,
        }
    },
    "stack/tags": {"Team": "ml-platform"},
    "budget": {"expected": 20_000, "worst": 90_000},
    "gpu-pools/t4-on-demand/labels": {"team": "vision"},
    "gpu-pools/t4-on-demand/taints": {"team": "vision:NoSchedule"},
    "gpu-pools/t4-on-demand/scale-down-after-minutes": 10,
    "gpu-pools/t4-on-demand/disk": {"size": "200Gi", "iops": 3000, "throughput": 125},
    "gpu-pools/t4-spot/interruptions-per-hour": 0.1,
    "system-nodes/disk": {"size": "50Gi", "iops": 3000, "throughput": 125},
    "autoscaler/provision-timeout-minutes": 10,
    "autoscaler/expander": ["priority", "least-waste"],
    "cluster/logs": ["api", "audit"],
    "cluster/service-cidr": "172.20.0.0/16",
    "images/other": {"reference": "ghcr.io/example-org/runner", "tag": "1.0.0", "cuda": "12.9", "runner": "2.336.0"},
    "github-federation/branches": ["main"],
    "artifact-registry/gpu-tests/region": "us-central1",
    "artifact-registry/gpu-tests/readers": {"people": "group:ci@example.org"},
    "artifact-registry/gpu-tests/writers": {"robot": "serviceAccount:ci@gpu-test-runners.iam.gserviceaccount.com"},
    "host-image/export": {"bucket": "example-org-gpu-images", "keep-days": 30},
    "host-image/builder": {"machine-type": "e2-standard-8", "disk": "50Gi", "max-minutes": 90, "attempts": 3},
    "host-image/verifier": {"machine-type": "n1-standard-4", "gpu": "t4", "gpus": 1, "max-minutes": 30},
    "test-image/cuda-image": "13.0.3-base-ubuntu24.04",
    "gpu-tests": {
        "vision": {
            "runner": "cirun-gcp-gpu",
            "install": ["make install"],
            "tests": ["make test"],
            "python": "3.13",
            "codecov-flag": "gpu",
            "nightly": "17 3 * * *",
            "switch": "GPU_TESTS",
            "run-label": "run-gpu",
            "skip-label": "skip-gpu",
        }
    },
    "runners/gpu-t4/needs/disk": "20Gi",
    "runners/gpu-t4/needs/torch": "2.9.1",
    "runners/gpu-t4/needs/onnxruntime": "1.23.2",
    "runners/gpu-t4/queue-target-minutes": 20,
    "runners/gpu-t4/workload": {"jobs-per-month": 600, "minutes": 12, "p95-minutes": 30},
    "runners/gpu-t4/arc/labels": ["nightly"],
    "runners/cirun-aws-gpu": {
        "needs": NEEDS,
        "timeout-minutes": 30,
        "cirun-aws": {
            "instance-types": ["g4dn.xlarge"],
            "regions": ["us-west-2"],
            "images": {"us-west-2": "ami-0123456789abcdef0"},
            "image-parameter": "/aws/service/deeplearning/ami/x86_64/base/latest/ami-id",
            "spot": [True],
            "disk": "100Gi",
            "at-once": 1,
        },
    },
    "runners/cirun-gcp-gpu/cirun-gcp/disk": "100Gi",
}
"""The changes to the staging stack after which it states every field, except those of `OTHERWISE`."""

OTHERWISE: Final[Mapping[str, Mapping[str, Any]]] = {
    "gpu-pools/t4-on-demand/sharing": {"gpu-pools/t4-on-demand/sharing": {"mode": "time-slicing", "replicas": 2}},
    "host-image/p": {
        "host-image/mode": "declared",
        "host-image/phase": "image",
        "host-image/proved": "0a1b2c3d",
        "host-image/zones": ["us-central1-b"],
        "host-image/builder": {"disk": "50Gi"},
        "host-image/verifier": None,
        "host-image/export": None,
        "host-image/keep": None,
    },
}
"""The beginning of a path to further changes that it needs; None removes a part."""

BIG: Final = 10**9
NAMES: Final = (
    "",
    " ",
    "Upper",
    "under_score",
    "-first",
    "last-",
    "two--hyphens",
    "9digit",
    "a b",
    "a" * 37,
    "\uff54\uff14",
    "t4\n",
)
"""Values that no name in a map may have."""
ZERO: Final = (0, -1, BIG)
SIZES: Final = ("0Gi", "-5Gi", "5", "5GB", "1.5Gi", "65537Gi", "65Ti", "")
RANGES: Final = ("10.0.0.1/16", "10.0.0.0/33", "10.0.0.256/32", "::/0", "")
ZONES: Final = ("us-west-2", "us-west-2z", "us-east-1a", "US-WEST-2A", "us-west-2a ")
VERSIONS: Final = ("12", "v12.9", "12.9.1", "latest", "", "99.9")
EMAILS: Final = (
    "user:", "user:jo", "user:@example.org", "user:jo@", "user:jo@example", "group:ci@example.org,x@example.org",
    "allUsers", "allAuthenticatedUsers", "domain:", "domain:jo@example.org", "domain:example", "serviceAccount:ci",
    "principal:x", "principalSet:x", "principalSet://", "ci@example.org", "user:jö@example.org", "user:j o@example.org",
)  # fmt: skip

REFUSED: Final[Mapping[str, tuple[Any, ...]]] = {
    # stack
    f"stack/tags/{KEY}": (
        "", " ", " x", "x ", "aws:x", "AWS:x", "Aws:x", "k" * 129, "a\tb", "a&b", "Name", "name", "PROJECT", "team",
        "1team", "managed-by", "managed_by ", "goog-x",
    ),
    "stack/tags/Team": ("v" * 257, "a\nb", "R&D", "tab\there", "aws\u200b"),
    # aws
    "aws/account": ("12345678901", "1234567890123", "", "12345678901a", "١٢٣٤٥٦٧٨٩٠١٢"),
    "aws/region": ("", "us-west-9", "us-west-2a", "cn-north-1", "us-gov-west-1", "US-WEST-2"),
    # network
    "network/cidr": (
        *RANGES, "10.0.0.0/15", "10.0.0.0/21", "8.8.0.0/16", "172.17.0.0/16", "172.20.0.0/16", "10.64.0.0/16",
        "169.254.0.0/16", "192.168.0.0/15",
    ),
    f"network/zones/{KEY}": (*ZONES, ""),
    "network/zones/us-west-2c": (8, -1, 0, BIG),
    f"network/reserved/{KEY}": NAMES,
    "network/reserved/office": (*RANGES, "10.0.5.0/24", "0.0.0.0/0"),
    # cluster
    "cluster/version": ("1.35.2", "1.99", "1.3", "v1.35", ""),
    "cluster/zones": ([], ["us-west-2a"], ["us-west-2a", "us-west-2a"]),
    "cluster/zones/0": ZONES,
    "cluster/endpoint/public": ([f"203.0.113.{host}/32" for host in range(41)],),
    "cluster/endpoint/public/0": (
        *RANGES, "10.0.0.0/8", "127.0.0.0/8", "169.254.169.254/32", "100.64.0.0/10", "224.0.0.0/4", "240.0.0.0/4",
        "0.0.0.0/8", "255.255.255.255/32", "198.18.0.0/15",
    ),
    f"cluster/administrators/{KEY}": NAMES,
    "cluster/administrators/deploy": (
        "", "deploy", "arn:aws:iam::1234:role/x", "arn:aws-cn:iam::123456789012:role/x",
        "arn:aws-us-gov:iam::123456789012:role/x", "arn:aws:iam::123456789012:root", "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:group/x", "arn:aws:sts::123456789012:assumed-role/x/y",
        "arn:aws:iam::123456789012:role/" + "x" * 65, "arn:aws:iam::123456789012:role/a//b",
        "arn:aws:iam::123456789012:role/aws-service-role/eks.amazonaws.com/x", "arn:aws:iam::123456789012:role/x*",
    ),
    "cluster/logs": (["api", "api"],),
    "cluster/service-cidr": (*RANGES, "10.0.0.0/20", "100.64.0.0/16", "172.20.0.0/25", "10.0.0.0/11", "8.8.0.0/16"),
    # nodes
    "system-nodes/instance-types": ([], ["t3.large"] * 2),
    "system-nodes/instance-types/0": ("", "t3", "t3.largest", "T3.large", "g4dn.xlarge", "n1-standard-4"),
    "system-nodes/min": (*ZERO, 5),
    "system-nodes/max": (*ZERO, 1, 65_000),
    "system-nodes/zones": ([], ["us-west-2a"] * 2),
    "system-nodes/zones/0": ZONES,
    "system-nodes/disk/size": (*SIZES, "19Gi"),
    "system-nodes/disk/iops": (*ZERO, 2999, 25_001, 80_001),
    "system-nodes/disk/throughput": (*ZERO, 124, 751, 2001),
    f"gpu-pools/{KEY}": NAMES,
    "gpu-pools/t4-spot/instance-types": ([], ["g4dn.xlarge"] * 2),
    "gpu-pools/t4-spot/instance-types/0": ("", "g4dn", "g4dn.3xlarge", "G4DN.xlarge", "m7i.large"),
    "gpu-pools/t4-spot/min": (-1, 6, BIG),
    "gpu-pools/t4-spot/max": (*ZERO, 65_000),
    "gpu-pools/t4-spot/zones": ([], ["us-west-2a"] * 2),
    "gpu-pools/t4-spot/zones/0": ZONES,
    "gpu-pools/t4-on-demand/disk/size": (*SIZES, "19Gi"),
    "gpu-pools/t4-on-demand/disk/iops": (*ZERO, 2999, 80_001),
    "gpu-pools/t4-on-demand/disk/throughput": (*ZERO, 124, 751, 2001),
    f"gpu-pools/t4-on-demand/labels/{KEY}": (
        "", " ", "a b", "-a", "a-", "/a", "a/", "a/b/c", "Example.org/a", "a..b/c", "-a.b/c", "a.-b/c", "k" * 64, "role",
        "gpu-ci/pool", "kubernetes.io/x", "x.k8s.io/y", "ä",
    ),
    "gpu-pools/t4-on-demand/labels/team": ("a b", "-a", "a-", "v" * 64, "a/b", "ä"),
    f"gpu-pools/t4-on-demand/taints/{KEY}": ("", "a b", "a/", "a..b/c", "k" * 64, "nvidia.com/gpu", "node.kubernetes.io/x"),
    "gpu-pools/t4-on-demand/taints/team": (
        "", "true", "NoSchedule", ":NoSchedule", "true:NO_SCHEDULE", "true:noschedule", "a b:NoSchedule",
        "v" * 64 + ":NoSchedule", "a:b:NoSchedule", "true:NoSchedule ",
    ),
    "gpu-pools/t4-on-demand/sharing/replicas": (*ZERO, 1, 49),
    "gpu-pools/t4-on-demand/scale-down-after-minutes": ZERO,
    "gpu-pools/t4-spot/interruptions-per-hour": (-0.1, 10.1, True, "0.1"),
    # services
    "autoscaler/scale-down-after-minutes": ZERO,
    "autoscaler/provision-timeout-minutes": ZERO,
    "autoscaler/expander": ([], ["priority", "priority"], ["random", "random"]),
    "monitoring/dcgm/interval-seconds": (*ZERO, 601),
    # images
    f"ecr/{KEY}": ("", "a", "Upper", "-a", "a-", "a//b", "/a", "a/", "a b", "a" * 250, "ä-image"),
    "ecr/runner-gpu/keep": ZERO,
    "ecr/runner-gpu/untagged-days": ZERO,
    "ecr/runner-gpu/mutable-tags": ([f"a{n}" for n in range(6)], ["a*", "a*"]),
    "ecr/runner-gpu/mutable-tags/0": ("", " ", "a b", "a/b", "ca?he", "*a*b*", "-cache", ".cache*", "t" * 129, "v[0-9]"),
    "ecr/runner-gpu/pull-request-days": (-1, BIG),
    f"images/{KEY}": NAMES,
    "images/runner-gpu/repository": ("", "unknown", "Upper", "a b"),
    "images/other/reference": (
        "", "runner", "ghcr.io/org/runner:1.0", "https://ghcr.io/org/runner", "ghcr.io//runner", "ghcr.io/org/",
        "ghcr.io/org/-runner", "ghcr.io/org/runner-", "ghcr.io/Org/runner", "ghcr.io:70000/org/runner",
        "-ghcr.io/org/runner", "ghcr..io/org/runner", "ghcr.io/org/a..b", "ghcr.io/" + "a" * 256, "ghcr.io/a b",
    ),
    "images/other/tag": ("", "latest", ".a", "-a", "a b", "a" * 129, "a:b", "ä"),
    "images/runner-gpu/digest": ("", "sha256:", "a" * 64, "sha256:" + "a" * 63, "sha256:" + "a" * 65, "sha256:" + "A" * 64, "sha512:" + "a" * 64),
    "images/runner-gpu/cuda": VERSIONS,
    "images/other/runner": ("", "2", "v2.336.0", "latest", "2.x", "999.0.0"),
    "images/runner-gpu/compressed": (*SIZES, "300Gi"),
    # github
    "github/url": (
        "", "github.com/example-org", "http://github.com/example-org", "https://github.com", "https://github.com/",
        "https://github.com/example-org/", "https://github.com/example-org?x=1", "https://github.com/example-org#x",
        "https://jo:pw@github.com/example-org", "https://github.com/example-org/vision.git",
        "https://github.com/example-org/vision/tree/main", "https://github.com/enterprises", "https://github.com/orgs/x",
        "https://github.com/enterprises/a/b", "https://www.github.com/example-org", "https://api.github.com/example-org",
        "https://github/example-org", "https://github..com/x", "https://github.com/-x", "https://github.com/a..b",
        "https://github.com/" + "o" * 40, "https://github.com/example-org/..", "https://github.com/ex ample",
        "https://g\u0456thub.com/example-org", "https://github.com/settings/apps", "git@github.com:example-org/vision",
        "https://github.com/example-org/" + "r" * 101,
    ),
    "github/app-id": (*ZERO[:2], 10**13, True, "412345"),
    "github/installation-id": (*ZERO[:2], 10**13, True),
    "arc/runner-group": ("", " ", " gpu", "gpu ", "a\nb", "a\tb", "g" * 300, "a\u200bb", 5),
    # gcp
    "gcp/project": ("", "short", "a" * 31, "Upper-case", "under_score", "1project", "project-", "123456789012", "my-google-project", "ssl-project"),
    "gcp/region": ("", "us-central7", "us-central1-b", "US-CENTRAL1", "europe", "us-west-2"),
    "host-image/proved": ("", "0a1b2c3", "0a1b2c3d4", "0A1B2C3D", "ok:0a1b2c"),
    "host-image/family": (*NAMES, "other-family"),
    "host-image/source-image": ("", "Ubuntu", "ubuntu-2404-lts-amd64", "ubuntu-os-cloud/x", "a" * 64 + "-v20261105", "ubuntu-", "ubuntu-2404-noble-amd64-v20261399"),
    "host-image/source-project": ("", "short", "Upper-case", "debian-cloud", "a" * 31),
    "host-image/zones": ([], ["us-central1-b"] * 2),
    "host-image/zones/0": ("", "us-central1", "us-central1-d", "us-central9-a", "US-CENTRAL1-B", "us-west-2a"),
    "host-image/driver": ("", "R580", "58", "5800", "580.65", "999", "000"),
    "host-image/cuda": VERSIONS,
    "host-image/docker-user": ("", "root", "Upper", "under_score", "1user", "-user", "u" * 33, "a b"),
    "host-image/builder/machine-type": ("", "e2", "e2-standard-7", "n1_standard_4", "g4dn.xlarge", "E2-standard-8"),
    "host-image/builder/disk": (*SIZES, "9Gi"),
    "host-image/builder/max-minutes": (*ZERO, 14),
    "host-image/builder/attempts": (*ZERO, 11),
    "host-image/verifier/machine-type": ("", "n1", "n1-standard-5", "e2-standard-8", "g4dn.xlarge"),
    "host-image/verifier/gpu": ("", "t5", "T4", "nvidia-tesla-t4", "a10g"),
    "host-image/verifier/gpus": (*ZERO, 3, 9),
    "host-image/verifier/max-minutes": (*ZERO, 14),
    "host-image/keep": (*ZERO, 21),
    f"host-image/share-with/{KEY}": NAMES,
    "host-image/share-with/research": EMAILS,
    "host-image/export/bucket": (
        "", "ab", "a" * 64, "Upper", "a b", "-abc", "abc-", "abc.", "a..b", "a.-b", "a-.b", "192.168.5.4", "goog-images", "my-google-images", "my-g00gle-images",
    ),
    "host-image/export/keep-days": ZERO,
    f"artifact-registry/{KEY}": NAMES,
    "artifact-registry/gpu-tests/region": ("", "us-central7", "us-central1-b", "EU"),
    "artifact-registry/gpu-tests/keep": ZERO,
    "artifact-registry/gpu-tests/drop-after-days": ZERO,
    f"artifact-registry/gpu-tests/readers/{KEY}": (*NAMES, "runners"),
    "artifact-registry/gpu-tests/readers/people": EMAILS,
    f"artifact-registry/gpu-tests/writers/{KEY}": (*NAMES, "github-vision-main"),
    "artifact-registry/gpu-tests/writers/robot": EMAILS,
    "test-image/repository": ("", "unknown", "Upper", "a b"),
    "test-image/cuda-image": (
        "", "latest", "13.0.3-base-ubi9", "nvidia/cuda", "nvcr.io/nvidia/cuda", "a b", "https://nvcr.io/nvidia/cuda:13.0.3-base-ubuntu24.04",
        "13.0.3-base-ubuntu24.04@sha256:" + "0" * 63, "13.0.3-base-ubuntu24.04@sha512:" + "0" * 64, "nvcr.io/a..b:1", "nvcr.io//cuda:1",
        "nvcr.io/nvidia/cuda:latest",
    ),
    "test-image/tag": ("", "latest", "a b", ".a", "a" * 129),
    "github-federation/owner-id": (*ZERO[:2], 10**13, True, "9919"),
    f"github-federation/repositories/{KEY}": (*NAMES, "second-name-of-vision"),
    "github-federation/repositories/vision": (*ZERO[:2], 10**13, 84632177, True),
    "github-federation/branches": ([], ["main", "main"]),
    "github-federation/branches/0": (
        "", " ", "a b", "a..b", "/a", "a/", "a//b", "a.", ".a", "a/.b", "a.lock", "a.lock/b", "-a", "a~b", "a^b", "a:b",
        "a?b", "a*b", "a[b", "a\\b", "@", "a@{b", "refs/heads/main", "HEAD", "a" * 201, "a\tb",
    ),
    # cirun
    f"cirun/access/{KEY}": NAMES,
    "cirun/access/core/repository": ("", "example-org/vision", ".", "..", "a b", "r" * 101, "vision.git", "https://github.com/a/b"),
    "cirun/access/core/runners": ([], ["cirun-gcp-gpu", "cirun-aws-gpu", "cirun-gcp-gpu"]),
    "cirun/access/core/runners/0": ("", "unknown", "gpu-t4", "Upper"),
    "cirun/access/core/teams": (["core", "core"],),
    "cirun/access/core/teams/0": ("", " ", "example-org/core", "@core", "a b", "-a", "t" * 101, "*"),
    "cirun/access/core/roles": (["maintain", "maintain"],),
    "cirun/access/core/roles/0": ("", " ", "@x", "*", "r" * 101),
    "cirun/access/core/users": (["a", "a"],),
    "cirun/access/core/users/0": ("", " ", "@octocat", "a b", "-a", "a--b", "u" * 41, "jo@example.org", "*"),
    f"gpu-tests/{KEY}": ("", "example-org/vision", "a b", ".", "..", "r" * 101, "vision.git"),
    "gpu-tests/vision/runner": ("", "unknown", "gpu-t4", "Upper"),
    "gpu-tests/vision/install": (["a", "a"],),
    "gpu-tests/vision/install/0": ("", " ", "a\nb", "# comment", "echo ${{ secrets.X }}", "c" * 2001, "a\x00b", "echo 'a"),
    "gpu-tests/vision/tests": ([], ["a", "a"]),
    "gpu-tests/vision/tests/0": ("", " ", "a\nb", "# comment", "echo ${{ x }}", "c" * 2001, 'echo "a'),
    "gpu-tests/vision/python": ("", "3", "2.7", "3.1", "3.7", "3.99", "v3.12", "3.12-dev", "python3.12", "3.12."),
    "gpu-tests/vision/codecov-flag": ("", " ", "a b", "f" * 46, "-a\n", "a/b", "ä"),
    "gpu-tests/vision/nightly": (
        "", "@daily", "3 17", "17 3 * *", "17 3 * * * *", "60 3 * * *", "17 24 * * *", "17 3 0 * *", "17 3 32 * *", "17 3 * 0 *",
        "17 3 * 13 *", "17 3 * * 8", "17 3 30 2 *", "17 3 31 4,6,9,11 *", "*/0 3 * * *", "5-1 3 * * *", "1- 3 * * *", ", 3 * * *",
        "-5 3 * * *", "17 3 * * FOO", "17  3 * * *", "a b c d e", "17 3 31 2 *", "1//2 3 * * *", "17/* 3 * * *", "17 3 * * 1-",
    ),
    "gpu-tests/vision/switch": ("", "gpu", "1GPU", "A B", "A-B", "GITHUB_GPU", "S" * 256),
    "gpu-tests/vision/run-label": ("", " ", "a\nb", "l" * 51, " a", "a ", "skip-gpu", "SKIP-GPU", "a,b"),
    "gpu-tests/vision/skip-label": ("", " ", "a\nb", "l" * 51, "a ", "run-gpu"),
    # runners
    f"runners/{KEY}": (
        "", " ", "Upper", "under_score", "-a", "a-", "a--b", "a b", "a" * 46, "self-hosted", "linux", "windows", "macos",
        "x64", "arm64", "arm", "ubuntu-latest", "windows-latest", "macos-latest", "macos-15-intel", "ubuntu-slim", "ubuntu-latest-xl", "\uff47pu",
    ),
    "runners/gpu-t4/needs/gpu": ("", "t5", "T4", "tesla-t4", "l4"),
    "runners/gpu-t4/needs/gpus": (*ZERO, 17, True),
    "runners/gpu-t4/needs/cpu": (*ZERO, 1.5, True, "3"),
    "runners/gpu-t4/needs/memory": (*SIZES, "12gi", "12G"),
    "runners/gpu-t4/needs/cuda": VERSIONS,
    "runners/gpu-t4/needs/disk": (*SIZES, "300Gi"),
    "runners/gpu-t4/needs/torch": ("", "2", "v2.9.1", "latest", "2.x", ">=2.9", "99.0.0"),
    "runners/gpu-t4/needs/onnxruntime": ("", "1", "v1.23", "latest", "99.0.0"),
    "runners/gpu-t4/timeout-minutes": (*ZERO, 10**5, 1.5, "60"),
    "runners/gpu-t4/workload/jobs-per-month": (-1, BIG, 0.5),
    "runners/gpu-t4/workload/minutes": (*ZERO, 61),
    "runners/gpu-t4/workload/p95-minutes": (*ZERO, 61, 11),
    "runners/gpu-t4/queue-target-minutes": ZERO,
    "runners/gpu-t4/arc/pool": ("", "unknown", "T4", "t4-on-demand"),
    "runners/gpu-t4/arc/fallback": ("", "unknown", "t4-spot"),
    "runners/gpu-t4/arc/min": (-1, 6, BIG),
    "runners/gpu-t4/arc/max": ZERO,
    "runners/gpu-t4/arc/image": ("", "unknown", "A b"),
    "runners/gpu-t4/arc/labels": (["nightly", "nightly"],),
    "runners/gpu-t4/arc/labels/0": ("", " ", "a b", "a,b", "gpu-t4-steady", "cirun-gcp-gpu", "ubuntu-latest", "macos-15", "l" * 257),
    "runners/cirun-aws-gpu/cirun-aws/instance-types": ([], ["g4dn.xlarge"] * 2),
    "runners/cirun-aws-gpu/cirun-aws/instance-types/0": ("", "g4dn", "g4dn.3xlarge", "t3.large", "g5.xlarge"),
    "runners/cirun-aws-gpu/cirun-aws/regions": ([], ["us-west-2"] * 2),
    "runners/cirun-aws-gpu/cirun-aws/regions/0": ("", "us-west-9", "us-west-2a", "cn-north-1", "us-east-1"),
    f"runners/cirun-aws-gpu/cirun-aws/images/{KEY}": ("", "us-west-9", "us-west-2a", "us-east-1"),
    "runners/cirun-aws-gpu/cirun-aws/images/us-west-2": (
        "", "ami-", "ami-0123456789", "ami-0123456", "ami-0123456789abcdef01", "ami-0123456789ABCDEF0", "ami-0123456789abcdeg0",
        "0123456789abcdef0", "snap-0123456789abcdef0", " ami-0123456789abcdef0",
    ),
    "runners/cirun-aws-gpu/cirun-aws/image-parameter": ("", "latest", "/aws/service/", "aws/service/x", "/aws/service/a//b", "/aws/service/a b", "/aws/service/a/", "/my/parameter"),
    "runners/cirun-aws-gpu/cirun-aws/spot": ([], [True, True], [True, False, True]),
    "runners/cirun-aws-gpu/cirun-aws/disk": SIZES,
    "runners/cirun-aws-gpu/cirun-aws/at-once": ZERO,
    "runners/cirun-gcp-gpu/cirun-gcp/machine-types": ([], ["n1-standard-4"] * 2),
    "runners/cirun-gcp-gpu/cirun-gcp/machine-types/0": ("", "n1", "n1-standard-5", "e2-standard-8", "g4dn.xlarge"),
    "runners/cirun-gcp-gpu/cirun-gcp/zones": ([], ["us-central1-b"] * 2),
    "runners/cirun-gcp-gpu/cirun-gcp/zones/0": ("", "us-central1", "us-central1-z", "us-central9-a", "us-west-2a"),
    "runners/cirun-gcp-gpu/cirun-gcp/image-family": ("", "other", "Upper", "a b"),
    "runners/cirun-gcp-gpu/cirun-gcp/spot": ([], [True, True], [True, False, True]),
    "runners/cirun-gcp-gpu/cirun-gcp/disk": (*SIZES, "49Gi"),
    "runners/cirun-gcp-gpu/cirun-gcp/at-once": ZERO,
    # limits
    f"quotas/{KEY}": ("", " ", "L-3819A6D", "l-3819a6df", "L-3819A6DF ", "vCPUs", "NVIDIA T4 GPUS", "/CPUS", "us-central1/"),
    "quotas/CPUS": (-1, 10**10, 1.5, "24", True),
    "budget/expected": (0, -1, 10**12, 1.5, "500"),
    "budget/worst": (0, -1, 10**12, True),
}  # fmt: skip
"""Path to values of the right type that are certainly wrong there."""
