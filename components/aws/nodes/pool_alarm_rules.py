"""Alarms of CloudWatch about the machines of a GPU pool. Pure.

EC2 publishes these metrics for every machine without an agent, and for each auto-scaling group (EC2 user guide, "List
the available CloudWatch metrics for your instances", 2026). EC2 has no metric of a GPU.
"""

from __future__ import annotations

from typing import Any, Final

PERIOD: Final = 300
"""Seconds between two values of EC2's basic monitoring."""
IDLE_CPU_PERCENT: Final = 5
"""The CPU use below which a machine is idle. A process that feeds a GPU uses more, except on very large machines."""
FAILED_PERIODS: Final = 3


def pool_alarms(pool: str, *, idle_minutes: int | None) -> dict[str, dict[str, Any]]:
    """Return the alarms of a pool by their keys; `idle_minutes` is None where idle machines are intended.

    Without a machine there is no value, which is no alarm.
    """
    alarms: dict[str, dict[str, Any]] = {
        "failed": {
            "alarm_description": f"A machine of the pool {pool} fails the status checks of EC2",
            "metric_name": "StatusCheckFailed",
            "statistic": "Maximum",
            "comparison_operator": "GreaterThanThreshold",
            "threshold": 0,
            "evaluation_periods": FAILED_PERIODS,
        }
    }
    if idle_minutes is not None:
        alarms["idle"] = {
            "alarm_description": f"All machines of the pool {pool} have been idle for {idle_minutes} minutes",
            "metric_name": "CPUUtilization",
            "statistic": "Maximum",
            "comparison_operator": "LessThanThreshold",
            "threshold": IDLE_CPU_PERCENT,
            "evaluation_periods": idle_minutes * 60 // PERIOD,
        }
    return {
        key: {"namespace": "AWS/EC2", "period": PERIOD, "treat_missing_data": "notBreaching", **alarm}
        for key, alarm in alarms.items()
    }
