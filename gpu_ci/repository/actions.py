"""Pins of the actions and tools in generated workflows. Renovate updates them."""

from __future__ import annotations

from typing import Final

# renovate: datasource=github-tags depName=actions/checkout
CHECKOUT: Final = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1"
# renovate: datasource=github-tags depName=actions/cache
CACHE: Final = "actions/cache@27d5ce7f107fe9357f9df03efb73ab90386fccae # v5.0.5"
# renovate: datasource=github-tags depName=actions/upload-artifact
UPLOAD_ARTIFACT: Final = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1"
# renovate: datasource=github-tags depName=actions/setup-python
SETUP_PYTHON: Final = "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0"
# renovate: datasource=github-tags depName=astral-sh/setup-uv
SETUP_UV: Final = "astral-sh/setup-uv@c771a70e6277c0a99b617c7a806ffedaca235ff9 # v9.0.0"
# renovate: datasource=github-tags depName=mamba-org/setup-micromamba
SETUP_MICROMAMBA: Final = "mamba-org/setup-micromamba@d7c9bd84e824b79d2af72a2d4196c7f4300d3476 # v3.0.0"
# renovate: datasource=github-tags depName=codecov/codecov-action
CODECOV: Final = "codecov/codecov-action@fb8b3582c8e4def4969c97caa2f19720cb33a72f # v7.0.0"
# renovate: datasource=github-tags depName=aws-actions/configure-aws-credentials
AWS_CREDENTIALS: Final = "aws-actions/configure-aws-credentials@e1253824e5c10ff9df46874f81ed3ec929e19cfd # v6.3.0"
# renovate: datasource=github-tags depName=google-github-actions/auth
AUTH: Final = "google-github-actions/auth@7c6bc770dae815cd3e89ee6cdf493a5fab2cc093 # v3.0.0"
# renovate: datasource=github-tags depName=google-github-actions/setup-gcloud
SETUP_GCLOUD: Final = "google-github-actions/setup-gcloud@aa5489c8933f4cc7a4f7d45035b3b1440c9c10db # v3.0.1"
# renovate: datasource=github-tags depName=docker/setup-buildx-action
SETUP_BUILDX: Final = "docker/setup-buildx-action@d7f5e7f509e45cec5c76c4d5afdd7de93d0b3df5 # v4.1.0"
# renovate: datasource=github-tags depName=docker/build-push-action
BUILD_PUSH: Final = "docker/build-push-action@f9f3042f7e2789586610d6e8b85c8f03e5195baf # v7.2.0"
# renovate: datasource=github-tags depName=actions/upload-pages-artifact
UPLOAD_PAGES: Final = "actions/upload-pages-artifact@fc324d3547104276b827a68afc52ff2a11cc49c9 # v5.0.0"
# renovate: datasource=github-tags depName=actions/deploy-pages
DEPLOY_PAGES: Final = "actions/deploy-pages@cd2ce8fcbc39b97be8ca5fce6e763baed58fa128 # v5.0.0"
# renovate: datasource=pypi depName=uv
UV: Final = "0.13.8"
UV_SHA256: Final = "e18a57b8b352eb7c8feb317b9f6f533c8f0ad9673fd6cf34bbe3cf1a9f6a8984"
"""The checksum of its wheel for manylinux on x86_64."""
# renovate: datasource=github-releases depName=mamba-org/micromamba-releases versioning=loose
MICROMAMBA: Final = "2.8.1-1"

STEPS: Final = {
    "checkout": CHECKOUT,
    "cache": CACHE,
    "upload_artifact": UPLOAD_ARTIFACT,
    "setup_python": SETUP_PYTHON,
    "setup_uv": SETUP_UV,
    "setup_micromamba": SETUP_MICROMAMBA,
    "codecov": CODECOV,
    "uv": UV,
    "uv_sha256": UV_SHA256,
    "micromamba": MICROMAMBA,
}
"""The pins by their names in the templates of test steps."""
