"""Outputs that both back ends of cirun have."""

from __future__ import annotations


def manual_steps(*, key: str, cloud: str) -> dict[str, str]:
    """Return the steps that cannot be declared: cirun accepts only a key that is pasted into its dashboard.

    The key is created by hand with the command `key`, so that no state holds it.
    """
    return {
        "repository": "connect the repository at https://cirun.io, where its GitHub App is installed",
        "key": key,
        "paste": f"paste the key into cirun under Cloud, {cloud}; delete the file; plan a date to rotate the key",
        "files": "make kit OUT=../REPOSITORY",
    }
