"""An outside system that answers questions: a cloud, the cluster, or GitHub.

A question is the name of a call and its arguments, and the answer is data as JSON has it. So a live system and a
recorded one are interchangeable.
"""

from __future__ import annotations

from typing import Any, Protocol


class Unanswered(Exception):
    """The system did not answer: no credentials, no permission, or no connection."""

    def __init__(self, reason: str, fix: str = "") -> None:
        self.reason = reason
        """One clause that follows "could not ask, because"."""
        self.fix = fix
        super().__init__(reason)


class Source(Protocol):
    """An outside system."""

    def ask(self, call: str, /, **arguments: Any) -> Any:
        """Return the answer to one question; None if the object does not exist.

        Raises:
            Unanswered: the system did not answer.

        """
        ...


class Aws(Source, Protocol):
    """Amazon Web Services. A call is `service.operation` of boto3, as in `eks.describe_cluster`.

    The arguments are those of boto3, and `region` for another region than the stack's. The answer has all pages, and
    times as text.
    """


class Cluster(Source, Protocol):
    """The API of Kubernetes. A call is a path, as in `/api/v1/nodes`, and the arguments are its query.

    The answer to the path of a log is its text.
    """


class GitHub(Source, Protocol):
    """The REST API of GitHub. A call is a path, as in `/repos/OWNER/NAME/actions/runners`; arguments are its query."""


class GoogleCloud(Source, Protocol):
    """The REST APIs of Google Cloud. A call is a URL without a query, and the arguments are its query.

    With the argument `body`, the request is a POST of that content. Only requests that change nothing are made.
    """


class Registry(Source, Protocol):
    """Container registries. The call is `manifest`, of a host, repository and reference; the answer has its digest."""


class Jarvis(Source, Protocol):
    """Jarvis Labs. The call is `instances.list`."""


class Log(Source, Protocol):
    """The log of a job that a person gives. The call is `read`; the answer has `name` and `text`, or is None."""
