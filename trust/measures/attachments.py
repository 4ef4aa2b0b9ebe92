"""Files that a report links to: where they are fetched, what they cost, and what of them is in the issue as read."""

import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import product
from typing import Any
from unittest.mock import patch

from testing.servers.endless_body import EndlessBody
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, serve_script
from testing.text.rendered_text import is_invisible
from testing.text.secret_forms import SECRET_FORMS
from triage.domain.issue import Issue
from triage.outside.github import attachment_reader as reader
from triage.read import attachments as texts
from triage.read.read_issue import read_issue
from trust.audit_hook import record_audit_events
from trust.measure import Measure, MeasureResult, sample_evenly

MAX_REQUESTS, MAX_CHARS, MAX_PEAK_BYTES = 9, 60_000, 60_000_000
LOG = ScriptedReply(b"no coins\n", headers={"content-type": "text/plain"})
OTHER = "elsewhere.invalid"
PNG = ScriptedReply(b"\x89PNG\r\n\x1a\n", headers={"content-type": "image/png"})
_ASSET = "user-attachments/assets/0b9c2c5e-4f0e-4d6b-9a7e-3c1d2e4f5a6b"
PICTURES = (
    f"{{url}}/{_ASSET}",
    f"https://{{other}}/{_ASSET}",
    f"{{url}}@{{other}}/{_ASSET}",
    f"{{url}}/../{{other}}/{_ASSET}",
    f"//{{other}}/{_ASSET}",
    "https://user-images.githubusercontent.com/1/2.png",
)


@dataclass(frozen=True)
class Attack:
    name: str
    reply: Callable[[ReceivedRequest], ScriptedReply]
    link: str = "{url}/user-attachments/files/1/a.log"
    secret: str = ""


def list_attacks() -> Iterator[Attack]:
    links: tuple[str, ...] = (
        "https://{other}/user-attachments/files/1/a.log",
        "{url}.{other}/a/b/files/1/a.log",
        "{url}@{other}/a/b/files/1/a.log",
    )
    links += (
        "{url}/user-attachments/files/1/../../../{other}/a.log",
        "//{other}/a/b/files/1/a.log",
        "file:///etc/hostname.log",
    )
    yield from (Attack(f"links to {link}", always(LOG), link) for link in links)
    places: tuple[str, ...] = (
        "https://{other}/a",
        "http://169.254.169.254/a",
        "//{other}/a",
        "\\\\{other}\\a",
        "https:/{other}/a",
        "http://[::1]/a",
    )
    places += (
        "ftp://{other}/a",
        "file:///etc/hostname",
        "http://127.0.0.1:9/a",
        "http://localhost/a",
        " https://{other}/a",
        "//[{other}/a",
    )
    for picture in PICTURES:
        yield Attack(f"picture at {picture}", always(PNG), picture)
    for place in places:
        headers = {"location": place.format(other=OTHER)}
        yield Attack(f"picture, 302 to {place}", always(ScriptedReply(b"", 302, headers)), PICTURES[0])
    yield Attack("picture, endless", always(ScriptedReply(EndlessBody())), PICTURES[0])
    yield Attack("picture that is a page", always(ScriptedReply(b"<svg onload='x'/>")), PICTURES[0])
    for status, place in product((301, 302, 303, 307, 308), places):
        headers = {"location": place.format(other=OTHER)}
        yield Attack(f"{status} to {place}", always(ScriptedReply(b"", status, headers)))
    yield Attack("redirects without end", lambda asked: ScriptedReply(b"", 302, {"location": f"{asked.path}x"}))
    yield Attack("many links", always(LOG), "\n".join(f"{{url}}/a/b/files/{number}/a.log" for number in range(500)))
    yield Attack("endless", always(ScriptedReply(EndlessBody())))
    yield Attack("endless, compressed", always(ScriptedReply(EndlessBody(gzipped=True))))
    for name, data in build_archives().items():
        yield Attack(name, always(ScriptedReply(data)), "{url}/a/b/files/1/a.zip")
    for name, data in BINARIES.items():
        yield Attack(f"binary: {name}", always(ScriptedReply(data)))
    for name, (text, secret) in SECRET_FORMS.items():
        data = f"ok\n{text}\nok\n".encode()
        yield Attack(f"secret: {name}", always(ScriptedReply(data)), secret=secret)
        packed = pack({"a.log": data})
        yield Attack(f"secret, packed: {name}", always(ScriptedReply(packed)), "{url}/a/b/files/1/a.zip", secret)


def always(reply: ScriptedReply) -> Callable[[ReceivedRequest], ScriptedReply]:
    return lambda _: reply


def pack(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def overlap(copies: int) -> bytes:
    """An archive whose directory lists one file again and again."""
    data = pack({"a.log": b"no coins " * 20_000})
    directory, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry = data[directory:end]
    counts = copies.to_bytes(2, "little") * 2 + (copies * len(entry)).to_bytes(4, "little")
    return data[:directory] + entry * copies + data[end : end + 8] + counts + data[end + 16 :]


NAMES = (
    "../../a.log",
    "/tmp/a.log",
    "C:\\a.log",
    "a\u202egol.log",
    "\x1b]0;x\x07.log",
    "::error::.log",
    f"{'x' * 5_000}.log",
)


@cache
def build_archives() -> dict[str, bytes]:
    return {
        "bomb": pack({"a.log": b"0" * 50_000_000}),
        "bomb in bzip2": pack({"a.log": b"0" * 50_000_000}, zipfile.ZIP_BZIP2),
        "bomb in LZMA": pack({"a.log": b"0" * 50_000_000}, zipfile.ZIP_LZMA),
        "bombs below the ratio": pack(
            {f"{number}.log": b"ab" * 900_000 + bytes(range(256)) * 200 for number in range(40)}
        ),
        "archive in an archive": pack({"a.zip": pack({"a.log": b"0" * 50_000_000})}),
        "many files": pack({f"{number}.log": b"x" for number in range(15_000)}),
        "one file again and again": overlap(20_000),
        **{f"named {name[:20]!r}": pack({name: b"no coins"}) for name in NAMES},
        "cut": pack({"a.log": b"no coins" * 99})[:-40],
    }


BINARIES = {
    "all bytes": bytes(range(256)) * 40,
    "no zero bytes": bytes(range(1, 256)) * 40,
    "hidden characters": "no\u202e\u200b\ufeff\U000e0041 coins\x1b[2J\x00".encode()[:-1],
    "lines of a megabyte": b"x" * 1_900_000,
    "half a character": "ü".encode("utf-16")[:-1],
}


def judge(attack: Attack) -> list[str]:
    """Return what is wrong with what became of the attack."""
    with serve_script(attack.reply) as server, record_audit_events() as events:
        links = attack.link.format(url=server.url, other=OTHER)
        tracemalloc.start()
        shown = f"{links}\n\n![shot]({links.partition(chr(10))[0]})"
        found = reader.AttachmentReader(server.url, takes_pictures=True).read(Issue(title="It stops", body=shown))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    body = read_issue(Issue(title="It stops", attachments=found)).body
    here = server.url.removeprefix("http://")
    wrong = {
        "asked elsewhere": [one for one in events.connected if one not in (here, here.partition(":")[0])],
        "asked too often": server.requests[MAX_REQUESTS:],
        "named itself": [one for one in server.requests if {"authorization", "cookie"} & one.headers.keys()],
        "wrote a file": events.changed,
        "started a program": events.started,
        "took for a picture": [one for one in found if one.picture and not one.picture.startswith("image/png;")],
        "too much": [1] * (peak > MAX_PEAK_BYTES or len(body) > MAX_CHARS),
        "showed a secret": [1] * bool(attack.secret and attack.secret in body),
        "showed what is hidden": [letter for letter in body if letter not in "\n\t" and is_invisible(letter)],
        "showed a name": [name for name in NAMES if name[:-4] in body.replace("no coins", "")],
    }
    return [f"{attack.name}: {what}" for what, cases in wrong.items() if cases]


def run(share: float) -> MeasureResult:
    chosen = sample_evenly(list(list_attacks()), share)
    return MeasureResult(len(chosen), [problem for attack in chosen for problem in judge(attack)])


WITHOUT_DEFENCE: list[tuple[object, str, Any, str]] = [
    (reader.AttachmentReader, "_is_storage", lambda *_: True, "302 to http://127.0.0.1:9/a"),
    (reader.AttachmentReader, "_is_storage", lambda *_: True, "picture, 302 to http://127.0.0.1:9/a"),
    (texts, "redact_likely_secrets", lambda text: text, "secret: YAML"),
    (texts, "shorten_log", lambda text: text, "binary: lines of a megabyte"),
    (texts, "clean_text", lambda text: text, "binary: hidden characters"),
]


def run_without_defence() -> MeasureResult:
    """Return no failure unless there is one without each defence."""
    attacks = {attack.name: attack for attack in list_attacks()}
    found = []
    for module, name, replacement, attack in WITHOUT_DEFENCE:
        with patch.object(module, name, replacement):
            found.append(judge(attacks[attack]))
    return MeasureResult(len(found), [one for problems in found for one in problems] if all(found) else [])


MEASURE = Measure(
    "Attachments that attack",
    "0",
    "Redirects, bodies and archives without end, odd names, forms of a secret: a request elsewhere, a file, much "
    "memory, a leak.",
    run,
    run_without_defence,
)
