"""Conditions on the stack file: a check applies only to a stack that states its section."""

from __future__ import annotations

from gpu_ci.stack_file.sections.settings import Settings
from ops.doctor.questions.repositories import scope


def aws(settings: Settings) -> bool:
    """Return whether the stack uses AWS."""
    return settings.aws is not None


def cluster(settings: Settings) -> bool:
    """Return whether the stack has a cluster."""
    return settings.cluster is not None


def gpu_pools(settings: Settings) -> bool:
    """Return whether the cluster has GPU pools."""
    return bool(settings.gpu_pools)


def autoscaler(settings: Settings) -> bool:
    """Return whether the cluster has the autoscaler."""
    return settings.autoscaler is not None


def arc(settings: Settings) -> bool:
    """Return whether the cluster has the Actions Runner Controller."""
    return settings.arc is not None


def device_plugin(settings: Settings) -> bool:
    """Return whether the stack installs NVIDIA's device plugin."""
    return settings.device_plugin is not None


def gcp(settings: Settings) -> bool:
    """Return whether the stack uses Google Cloud."""
    return settings.gcp is not None


def jarvis(settings: Settings) -> bool:
    """Return whether a workflow starts an instance of Jarvis Labs."""
    sections = [section for runner in settings.runners.values() for section in runner.stated.values()]
    return any(getattr(section, "jarvis", None) is not None for section in sections)


def runners(settings: Settings) -> bool:
    """Return whether the stack runs jobs."""
    return bool(settings.runners)


def organisation(settings: Settings) -> bool:
    """Return whether runners register at an organisation. Only there, a token sees installations and runner groups."""
    return scope(settings).startswith("/orgs/")
