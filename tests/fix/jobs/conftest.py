from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _workspaces_below_the_folder_of_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
