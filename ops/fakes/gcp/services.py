"""The fake Secret Manager and Cloud Monitoring of Google Cloud.

Sources: `ForceNew` in hashicorp/terraform-provider-google 7.x for replacements, the Google APIs for refusals, the
outputs of the pulumi-gcp 10 SDK for answers (2026-11).
"""

from __future__ import annotations

from typing import Final

from ops.fakes.cloud.kinds import Kind, Reference
from ops.fakes.cloud.objects import CloudObject, Objects
from ops.fakes.cloud.paths import values_at
from ops.fakes.cloud.request import CREATED_AT, PROJECT_NUMBER, Created, Request

SECRET: Final = "gcp:secretmanager/secret:Secret"  # noqa: S105 - a type
CHANNEL: Final = "gcp:monitoring/notificationChannel:NotificationChannel"
ALERT: Final = "gcp:monitoring/alertPolicy:AlertPolicy"
_OWN_METRICS: Final = "custom_googleapis_com:"


def _secret(request: Request) -> Created:
    secret = request.inputs.get("secretId", request.name)
    # The id contains the project's id, the name contains its number.
    return f"projects/{request.project}/secrets/{secret}", {
        "name": f"projects/{PROJECT_NUMBER}/secrets/{secret}",
        "project": request.project,
        "createTime": CREATED_AT,
    }


def _grant(request: Request) -> Created:
    id_ = "/".join(str(request.inputs.get(key, key)) for key in ("secretId", "role", "member"))
    return id_, {"etag": request.hex(12)}


def _channel(request: Request) -> Created:
    id_ = f"projects/{request.project}/notificationChannels/{request.number(19)}"
    return id_, {"name": id_, "project": request.project, "verificationStatus": ""}


def _alert(request: Request) -> Created:
    id_ = f"projects/{request.project}/alertPolicies/{request.number(19)}"
    return id_, {"name": id_, "project": request.project}


def _metrics_exist(_cloud: Objects, alert: CloudObject) -> str | None:
    """Refuse a query of a metric that no machine has written yet, unless the condition says otherwise."""
    path = "conditions.*.conditionPrometheusQueryLanguage"
    for _, condition in values_at(path, alert.inputs):
        if _OWN_METRICS in str(condition.get("query")) and not condition.get("disableMetricValidation"):
            return "Error 404: Cannot find metric(s) that match the query., notFound"
    return None


TABLE: Final = (
    Kind(
        type=SECRET,
        answer=_secret,
        identity=("project", "secretId"),
        taken="Error 409: Secret [{1}] already exists., alreadyExists",
        delete_first="secretId",
        max_lengths={"secretId": 255},
    ),
    Kind(
        type="gcp:secretmanager/secretIamMember:SecretIamMember",
        answer=_grant,
        references=[
            Reference(
                "secretId",
                SECRET,
                by="secretId",
                missing="Error 404: Secret [{value}] not found., notFound",
                blocks=False,
                cascades=True,
            )
        ],
    ),
    Kind(
        type=CHANNEL,
        answer=_channel,
        in_use="Error 400: Cannot delete notification channel {id}, which {holder} uses, failedPrecondition",
        choices={"type": ("email", "pagerduty", "pubsub", "slack", "sms", "webhook_basicauth", "webhook_tokenauth")},
    ),
    Kind(
        type=ALERT,
        answer=_alert,
        references=[
            Reference(
                "notificationChannels.*",
                CHANNEL,
                by="name",
                missing="Error 404: The notification channel {value} was not found., notFound",
            )
        ],
        choices={"combiner": ("AND", "AND_WITH_MATCHING_RESOURCE", "OR")},
        before_create=[_metrics_exist],
    ),
)
