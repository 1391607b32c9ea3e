"""Five hundred pairs of two dumps, from the graph to both test sets."""

from pathlib import Path

import pytest

from tests.rehearsals import part_of
from tests.serving import serving
from tests.test_whole_way_pairs import DUMPS, check_release, check_report, collect

pytestmark = pytest.mark.django_db(transaction=True)


def test_two_dumps_become_five_hundred_released_pairs(tmp_path: Path, data: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "release"
    home.mkdir()
    with serving(home) as instance:
        collect(instance, [data / "wiki" / name for name in DUMPS], out, part_of(500), 20)
        check_report(instance)
    check_release(out, part_of(500), {"medium", "hard"})
