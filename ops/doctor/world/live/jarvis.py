"""Jarvis Labs through its SDK."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from jarvislabs import Client
from jarvislabs.exceptions import AuthError, JarvislabsError

from ops.doctor.world.source import Unanswered

KEYS: Final = ("TOKEN_JARVIS", "JL_API_KEY")
"""Environment variables that may have the API key."""


class LiveJarvis:
    """The account of an API key."""

    def __init__(self, environment: Mapping[str, str] = os.environ, client: Client | None = None) -> None:
        key = next((environment[name] for name in KEYS if environment.get(name)), "")
        if client is None and not key:
            raise Unanswered("there is no API key of Jarvis Labs in the environment", f"set {KEYS[0]}")
        self._client = client if client is not None else Client(api_key=key)

    def ask(self, call: str, /, **_arguments: Any) -> Any:
        """Return the instances of the account."""
        try:
            instances = self._client.instances.list()
        except AuthError:
            raise Unanswered("Jarvis Labs refuses the API key", f"set {KEYS[0]} to a valid key") from None
        except JarvislabsError as fault:
            raise Unanswered(f"Jarvis Labs did not answer {call} ({fault})", "run it again") from None
        return [
            {
                "machine_id": one.machine_id,
                "name": one.name,
                "status": one.status,
                "gpu_type": one.gpu_type,
                "num_gpus": one.num_gpus,
            }
            for one in instances
        ]
