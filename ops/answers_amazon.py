"""What AWS computes beside the inputs: every service's table in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops import answers_amazon_cluster, answers_amazon_images, answers_amazon_network, answers_amazon_services

if TYPE_CHECKING:
    from ops.answers_asked import Maker

MAKERS: Final[dict[str, Maker]] = {
    **answers_amazon_network.MAKERS,
    **answers_amazon_cluster.MAKERS,
    **answers_amazon_images.MAKERS,
    **answers_amazon_services.MAKERS,
}
"""How each type is answered."""
