"""What AWS computes beside the inputs: every service's table in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fakes.aws import answers_cluster as answers_amazon_cluster
from fakes.aws import answers_images as answers_amazon_images
from fakes.aws import answers_network as answers_amazon_network
from fakes.aws import answers_services as answers_amazon_services

if TYPE_CHECKING:
    from fakes.answers_asked import Maker

MAKERS: Final[dict[str, Maker]] = {
    **answers_amazon_network.MAKERS,
    **answers_amazon_cluster.MAKERS,
    **answers_amazon_images.MAKERS,
    **answers_amazon_services.MAKERS,
}
"""How each type is answered."""
