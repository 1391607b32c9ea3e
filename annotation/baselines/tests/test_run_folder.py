"""What a run says of the files that it learned from."""

from pathlib import Path

import pytest

from annotation.baselines.run_folder import files_of

pytestmark = pytest.mark.pure


def test_two_files_of_one_name_are_both_told_by_their_content(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "train.json" for folder in ("first", "second")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(path.parent.name)
    found = files_of([*paths, paths[0]])
    assert list(found) == ["train.json", "train.json (2)", "train.json (3)"]
    assert found["train.json"] == found["train.json (3)"] != found["train.json (2)"]
    # A run goes on only with the files that it began with: another second file is seen.
    paths[1].write_text("changed")
    assert files_of(paths) != {name: found[name] for name in list(found)[:2]}
