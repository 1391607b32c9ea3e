"""Island rows stay on the island."""

import pytest
from django.apps import apps

from marketplace.models import HIT
from marketplace.router import DATABASE, MarketplaceRouter

pytestmark = pytest.mark.pure


class Elsewhere:
    """A model of somebody else."""

    class _meta:
        app_label = "elsewhere"


def test_every_model_lives_in_the_marketplace_database() -> None:
    router = MarketplaceRouter()
    for model in apps.get_app_config("marketplace").get_models():
        assert router.db_for_read(model) == router.db_for_write(model) == DATABASE
    assert router.db_for_read(Elsewhere) is None


def test_tables_are_made_on_the_right_side() -> None:
    router = MarketplaceRouter()
    assert router.allow_migrate(DATABASE, "marketplace")
    assert router.allow_migrate("default", "marketplace") is False
    assert router.allow_migrate(DATABASE, "elsewhere") is False
    assert router.allow_migrate("default", "elsewhere") is None


def test_no_relation_crosses_the_shore() -> None:
    router = MarketplaceRouter()
    assert router.allow_relation(HIT(), HIT())
    assert router.allow_relation(HIT(), Elsewhere()) is False
    assert router.allow_relation(Elsewhere(), Elsewhere()) is None
