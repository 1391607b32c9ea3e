"""The rehearsals of live dialogs in short: few people, the embedded default, nothing timed."""

from pathlib import Path

from tests.rehearsals import dialogs
from tests.serving import serving

N_DIALOGS = 8


def test_everybody_is_paired_once_and_no_run_of_the_section_reaches_a_student(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as instance:
        url = instance.collector_url
        address = f"{url.replace('http', 'ws')}/hit/socket", url
        counts = dialogs.secrecy(instance, address, N_DIALOGS, rate=4, processes=1)
        dialogs.check_pairs(instance, N_DIALOGS)
    assert counts["turns"] > 2 * N_DIALOGS
