"""GitHub's parser is used by one thread at a time: its tables are shared, and it runs without Python's lock."""

import threading
import time

import pytest

from triage.text import markdown_html


def test_no_two_threads_are_in_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []
    most: list[int] = []

    def parse(*words: object, **options: object) -> str:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return ""

    monkeypatch.setattr(markdown_html, "markdown_to_html_with_extensions", parse)
    threads = [
        threading.Thread(target=markdown_html.markdown_to_html, args=("x",), kwargs={"raw_html": True})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4
