"""Versions of what the workflows of this back end use. Renovate updates them."""

from __future__ import annotations

from typing import Final

# renovate: datasource=pypi depName=boto3
BOTO3: Final = "1.44.5"
# renovate: datasource=pypi depName=google-cloud-compute
GOOGLE_CLOUD_COMPUTE: Final = "1.57.0"
# renovate: datasource=pypi depName=requests
REQUESTS: Final = "2.34.2"
