"""AWS through boto3."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, Final

import boto3
from botocore import exceptions
from botocore.config import Config

from ops.doctor.world.source import Unanswered

_CONFIG: Final = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 3})
_MISSING: Final = re.compile(r"NotFound|NoSuch")
"""Part of every error code for an object that does not exist."""
_EXPIRED: Final = re.compile(r"Expired|InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch")
_REFUSED: Final = re.compile(r"AccessDenied|Unauthorized|AuthFailure|Forbidden")
_SIGN_IN: Final = "set AWS_PROFILE, or run `aws sso login`"


class LiveAws:
    """The account of the credentials that boto3 finds."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._clients: dict[tuple[str, str], Any] = {}

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer of `service.operation`, with all pages."""
        service, _, operation = call.partition(".")
        region = arguments.pop("region", self._region)
        try:
            answer = self._answer(self._client(service, region), operation, arguments)
            if call == "iam.list_access_keys":
                self._add_last_use(answer)
        except exceptions.ClientError as fault:
            return _missing(call, fault)
        except (exceptions.NoCredentialsError, exceptions.PartialCredentialsError):
            raise Unanswered("there are no credentials of AWS", _SIGN_IN) from None
        except (exceptions.TokenRetrievalError, exceptions.SSOError) as fault:
            raise Unanswered(f"the sign-in to AWS has expired ({_line(fault)})", "run `aws sso login`") from None
        except (exceptions.HTTPClientError, exceptions.ConnectionError) as fault:
            raise Unanswered(
                f"AWS cannot be reached ({_line(fault)})", "check the network and the region, and run it again"
            ) from None
        except exceptions.BotoCoreError as fault:
            raise Unanswered(f"the request {call} failed ({_line(fault)})", _SIGN_IN) from None
        answer.pop("ResponseMetadata", None)
        return json.loads(json.dumps(answer, default=_text))

    def _client(self, service: str, region: str) -> Any:
        if (service, region) not in self._clients:
            self._clients[service, region] = boto3.Session().client(service, region_name=region, config=_CONFIG)
        return self._clients[service, region]

    def _add_last_use(self, answer: dict[str, Any]) -> None:
        """Add the last use of each key: recordings have no ids of keys, with which a check could ask for it."""
        for key in answer["AccessKeyMetadata"]:
            used = self._client("iam", self._region).get_access_key_last_used(AccessKeyId=key["AccessKeyId"])
            key.update(used["AccessKeyLastUsed"])

    def _answer(self, client: Any, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if client.can_paginate(operation):
            return dict(client.get_paginator(operation).paginate(**arguments).build_full_result())
        return dict(getattr(client, operation)(**arguments))


def _missing(call: str, fault: exceptions.ClientError) -> None:
    """Return None for an object that does not exist; raise for every other error."""
    error = fault.response.get("Error", {})
    code, message = str(error.get("Code", "")), " ".join(str(error.get("Message", "")).split())
    if _EXPIRED.search(code):
        raise Unanswered(f"the credentials of AWS are not valid ({code}: {message})", _SIGN_IN) from None
    if _REFUSED.search(code):
        raise Unanswered(
            f"AWS refuses {call} ({message})", f"grant {call} to the identity that runs the doctor"
        ) from None
    if not _MISSING.search(code):
        raise Unanswered(
            f"{call} failed ({code}: {message})", "run it again; if it fails again, read the message"
        ) from None


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _line(fault: Exception) -> str:
    return " ".join(str(fault).split())
