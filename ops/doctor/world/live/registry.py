"""Container registries through their HTTP API, without an account: as a machine without credentials sees them."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any, Final

import httpx

from ops.doctor.world.source import Unanswered

_TYPES: Final = (
    "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json"
)
_PART: Final = re.compile(r'(\w+)="([^"]*)"')


class LiveRegistry:
    """Any registry that follows the OCI distribution specification 1.1."""

    def __init__(self, scheme: str = "https") -> None:
        self._scheme = scheme
        self._client = httpx.Client(timeout=20, follow_redirects=True)

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the digest of a manifest; None if the registry has none of this name."""
        host, repository, reference = arguments["host"], arguments["repository"], arguments["reference"]
        url = f"{self._scheme}://{host}/v2/{repository}/manifests/{reference}"
        try:
            answer = self._client.head(url, headers={"Accept": _TYPES})
            refused = answer.status_code == HTTPStatus.UNAUTHORIZED
            if refused and (token := self._token(answer.headers.get("www-authenticate", ""), repository)):
                answer = self._client.head(url, headers={"Accept": _TYPES, "Authorization": f"Bearer {token}"})
        except httpx.HTTPError as fault:
            raise Unanswered(f"{host} cannot be reached ({fault})", "check the network, and run it again") from None
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        if answer.is_success:
            return {"digest": answer.headers.get("docker-content-digest", "")}
        raise Unanswered(
            f"{host} answered {call} with {answer.status_code} ({answer.reason_phrase})",
            "the image is private: check that the machines have credentials for this registry",
        )

    def _token(self, challenge: str, repository: str) -> str:
        """Return an anonymous token from the service that the registry names; empty if it gives none."""
        named = dict(_PART.findall(challenge))
        if "realm" not in named:
            return ""
        query = {"service": named.get("service", ""), "scope": f"repository:{repository}:pull"}
        answer = self._client.get(named["realm"], params=query)
        if not answer.is_success:
            return ""
        content = answer.json()
        return str(content.get("token") or content.get("access_token") or "")
