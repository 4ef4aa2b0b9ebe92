"""Caches the weeks of a scorecard. The folder may come from anywhere, so whoever reads the text checks it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from triage.base.private_folder import make_private_folder, read_private_file, write_private_file

MAX_FILE_BYTES = 100_000


@dataclass(frozen=True)
class CachedTrend:
    """Implements `triage.backtest.scorecard.scorecard_ports.TrendFile`."""

    folder: Path | None
    """None caches nothing."""
    repository: str
    """Its weeks are not read for another one."""
    now: Callable[[], datetime]

    def read(self) -> str:
        try:
            data = read_private_file(self._find_file(self.folder), MAX_FILE_BYTES) if self.folder else None
        except OSError:
            return ""
        return (data or b"").decode("utf-8", "replace")

    def write(self, text: str) -> None:
        if self.folder:
            with suppress(OSError):  # the next job counts what GitHub still shows
                make_private_folder(self.folder)
                write_private_file(self._find_file(self.folder), text.encode(), self.now().timestamp())

    def _find_file(self, folder: Path) -> Path:
        key = blake2b(self.repository.casefold().encode(), digest_size=16).hexdigest()
        return folder / f"weeks-{key}.json"
