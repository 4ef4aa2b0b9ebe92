"""Paid replies of an interrupted run, which the next run uses instead of asking again; each is a file.

The folder may come from anywhere: a reply from it passes the same checks as a fresh one.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_openai_messages

from triage import __version__
from triage.base.private_folder import make_private_folder, read_private_file, write_private_file
from triage.model.model_reply import ModelReply
from triage.model.output_formats import OutputFormat
from triage.ports import ResponseCache

SUFFIX = ".reply"
DAY = 24 * 60 * 60
MAX_AGE_SECONDS = 7 * DAY
MAX_TOTAL_BYTES = 32_000_000
"""The oldest files go first. A run has some dozens, of some kilobytes each."""
MAX_FILE_BYTES = 1_000_000


@dataclass(frozen=True)
class CachedReplies:
    """Cached replies of one endpoint. Without a cache there are none."""

    cache: ResponseCache | None = None
    base_url: str = ""

    def build_key(
        self, model: str, messages: Sequence[BaseMessage], output_format: OutputFormat[Any], max_tokens: int
    ) -> str:
        """Returns a digest of everything that affects the answer.

        The mode of the request and a fallback model are not part of it: both depend on the state of the endpoint, and
        are stored with the reply.
        """
        parts = [
            __version__,
            self.base_url,
            model,
            convert_to_openai_messages(list(messages)),
            [getattr(message, "invalid_tool_calls", []) for message in messages],  # the line above leaves them out
            output_format.name,
            [dict(mode.arguments) for mode in output_format.modes],
            max_tokens,
        ]
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()

    def get(self, key: str) -> ModelReply | None:
        text = self.cache.get(key) if self.cache else None
        try:
            return ModelReply.model_validate(json.loads(text), strict=True) if text else None
        except (ValueError, RecursionError):
            return None

    def put(self, key: str, reply: ModelReply) -> None:
        if self.cache:
            # pydantic's own JSON refuses lone surrogates.
            self.cache.put(key, json.dumps(reply.model_dump()))


class FileResponseCache:
    """Implements the `ResponseCache` port. The first error is logged; it costs only what the cache would save."""

    def __init__(self, folder: Path, log: Callable[[str], None], now: Callable[[], datetime]) -> None:
        self._folder, self._log, self._now = folder, log, now
        self._is_prepared = self._has_failed = False

    def get(self, key: str) -> str | None:
        try:
            self._prepare()
            data = read_private_file(self._find_file(key), MAX_FILE_BYTES)
            return data.decode() if data is not None else None
        except FileNotFoundError:
            return None
        except (OSError, UnicodeError):
            self._report_failure()
            return None

    def put(self, key: str, answer: str) -> None:
        try:
            self._prepare()
            data = answer.encode()
            if len(data) <= MAX_FILE_BYTES:
                write_private_file(self._find_file(key), data, self._now().timestamp())
        except (OSError, UnicodeError):
            self._report_failure()

    def _find_file(self, key: str) -> Path:
        return self._folder / f"{key}{SUFFIX}"

    def _prepare(self) -> None:
        if self._folder.is_symlink():
            raise OSError("a link may lead anywhere")
        if self._is_prepared:
            return
        self._is_prepared = True
        make_private_folder(self._folder)
        with suppress(OSError):  # somebody else may own it
            self._folder.chmod(0o700)
        now, total = self._now().timestamp(), 0
        for status, file in sorted(_list_files(self._folder), key=lambda pair: pair[0].st_mtime, reverse=True):
            total += status.st_size
            # A clock may be wrong, but not by more than a day.
            if not now - MAX_AGE_SECONDS <= status.st_mtime <= now + DAY or total > MAX_TOTAL_BYTES:
                file.unlink(missing_ok=True)

    def _report_failure(self) -> None:
        if not self._has_failed:
            self._has_failed = True
            self._log("Replies cannot be cached in cache-dir: a run that starts again would ask for them again.")


def _list_files(folder: Path) -> Iterator[tuple[os.stat_result, Path]]:
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # another process has just given a new file its name
            if _is_ours(file):
                yield file.lstat(), file


def _is_ours(file: Path) -> bool:
    return file.is_file() and (file.suffix == SUFFIX or file.name.startswith(".new-"))
