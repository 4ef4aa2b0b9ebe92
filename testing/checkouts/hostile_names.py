"""Checkouts whose files have names that are more than names, and links that lead out."""

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from testing.checkouts.git_objects import FILE, FOLDER, LINK, ObjectStore, Row
from testing.checkouts.git_repositories import commit, git, write
from testing.checkouts.hostile_base import CANARY, PRIVATE, SOURCES, make_checkout, outside_folder
from testing.runs.sample_bug import BASKET

NAMES: Sequence[bytes] = (
    b"new\nline.py",
    b"carriage\rreturn.py",
    b"tab\t.py",
    b"::error::basket.py",
    b"\n::add-mask::basket.py",
    b"##[error]basket.py",
    b"\x1b[31mred\x1b]8;;mailto:x@evil.example\x07.py",
    b"\x00\x01"[1:] + b"control\x7f\xc2\x85.py",
    b"not-utf8-\xff\xfe.py",
    b"half-\xed\xa0\x80.py",
    b"-n1",
    b"--output=x",
    b"--help",
    b":(glob)**",
    b":!basket.py",
    b"*",
    b"$(touch sprung).py",
    b"`touch sprung`.py",
    b"; touch sprung; .py",
    b"${{ github.token }}.py",
    b"%0A%0D::error::x.py",
    b"back\\slash\\..\\basket.py",
    b"C:\\windows\\basket.py",
    b"CON",
    b"nul.py",
    b"trailing dot.",
    b"trailing space.py ",
    b" leading.py",
    b"Basket.py",
    b"BASKET.PY",
    "caf\u00e9.py".encode(),
    "cafe\u0301.py".encode(),
    "\u202egnp.yp.basket.py".encode(),
    "zero\u200bwidth\u2060\ufeff.py".encode(),
    "tag\U000e0041\U000e0042.py".encode(),
    b"[link](https:",
    b"](",
    b"![x](http:x).py",
    b"<img src=x>.py",
    b"<!-- hidden -->.py",
    b"@octocat.py",
    b"#1 fixes.py",
    b"a|b||c.py",
    b"a`b``c```.py",
    b"hash#and?query=1&x.py",
    b"\xf0\x9f\x98\x80.py",
    b"x" * 251 + b".py",
    b".py",
    b"...",
    b"~",
    b"<|untrusted|>",
    b"```",
)
"""Names of one part, as git stores them."""
FORBIDDEN: Sequence[bytes] = (b"..", b".", b".GIT", b"/etc/passwd", b"a//b.py", b"../../../evil/repo")
"""What no git would check out."""


def _shop(objects: ObjectStore, rows: Sequence[Row]) -> None:
    """A commit of these entries, in `shop` beside the basket and at the root."""
    basket = objects.blob(BASKET.encode())
    shop = objects.tree([(FILE, b"basket.py", basket), *rows])
    objects.commit(objects.tree([*rows, (FOLDER, b"shop", shop)]))


def odd_names(root: Path) -> None:
    objects = ObjectStore(root)
    _shop(objects, [(FILE, name, objects.blob(BASKET.encode() + b"# " + name)) for name in NAMES])


def odd_names_without_git(root: Path) -> None:
    write(root, SOURCES)
    for name in NAMES:
        (root / "shop" / os.fsdecode(name)).write_bytes(BASKET.encode())


def forbidden_names(root: Path) -> None:
    objects = ObjectStore(root)
    blob = objects.blob(f"{BASKET}# {CANARY}\n".encode())
    inner = objects.tree([(FILE, name, blob) for name in FORBIDDEN])
    _shop(objects, [*((FILE, name, blob) for name in FORBIDDEN), (FOLDER, b"..", inner), (FOLDER, b"up/..", inner)])


def empty_name(root: Path) -> None:
    """Git stops at an entry without a name."""
    objects = ObjectStore(root)
    _shop(objects, [(FILE, b"", objects.blob(b"x = 1\n"))])


def doubled_names(root: Path) -> None:
    """The same name again and again, as file, folder and link."""
    objects = ObjectStore(root)
    blobs = [objects.blob(f"x = {number}\n".encode()) for number in range(3)]
    inner = objects.tree([(FILE, b"b.py", blobs[0])])
    rows = [(FILE, b"a.py", blob) for blob in blobs]
    _shop(objects, [*rows, (FOLDER, b"a.py", inner), (LINK, b"a.py", blobs[0]), (FILE, b"basket.py", blobs[1])])


def long_paths(root: Path) -> None:
    """Paths of four thousand bytes and more, a thousand folders deep."""
    objects = ObjectStore(root)
    blob = objects.blob(BASKET.encode())
    rows: list[Row] = [(FILE, b"basket.py", blob)]
    for part in (b"d", b"x" * 200, b"n" * 4_000):
        inner = objects.tree([(FILE, b"basket.py", blob)])
        for _ in range(1_000 if part == b"d" else 20):
            inner = objects.tree([(FOLDER, part, inner)])
        rows.append((FOLDER, part + b"-root", inner))
    _shop(objects, rows)


def odd_refs(root: Path) -> None:
    """Branches and tags that read as options, and a branch named HEAD."""
    make_checkout(root)
    head = git(root, "rev-parse", "HEAD")
    refs = "".join(f"{head} {ref}\n" for ref in ("refs/heads/-n1", "refs/heads/HEAD", "refs/tags/--output=x"))
    (root / ".git/packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{refs}")
    (root / ".git/HEAD").write_text("ref: refs/heads/-n1\n")


_TARGETS = {
    "env.py": "/proc/self/environ",
    "event.json": "../temp/event.json",
    "passwd.py": "/etc/passwd",
    "up.py": "../../../../../../etc/hostname",
    "loop.py": "loop.py",
    "loop": ".",
    "etc": "/etc",
    "dangling.py": "nowhere",
    "outside": "{outside}",
    "secret.py": "{outside}/secret.py",
    ".github/triage.yml": "{outside}/secret.py",
    ".github/CODEOWNERS": "{outside}/secret.py",
    ".github/ISSUE_TEMPLATE/bug.yml": "{outside}/secret.py",
    ".triage": "{outside}",
}


def _link(root: Path) -> None:
    write(outside_folder(root), {"secret.py": PRIVATE["private.py"]})
    for name, target in _TARGETS.items():
        link = root / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target.format(outside=outside_folder(root)))


def links(root: Path) -> None:
    write(root, SOURCES)
    _link(root)
    (root / ".github/triage.yml").unlink()  # which ends a run, with a reason: see `settings_as_link`
    commit(root)


def links_without_git(root: Path) -> None:
    write(root, SOURCES)
    _link(root)
    (root / ".github/triage.yml").unlink()


def settings_as_link(root: Path) -> None:
    write(root, SOURCES)
    _link(root)
    commit(root)


def special_files(root: Path) -> None:
    """Pipes, sockets and devices, a folder that nobody may read, a sparse file of a terabyte."""
    write(root, SOURCES)
    os.mkfifo(root / "shop/pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(root)
        try:
            listener.bind("s.py")
        finally:
            os.chdir(here)
    if os.geteuid() == 0:
        os.mknod(root / "shop/null.py", 0o20666, os.makedev(1, 5))
    write(root, {"closed/a.py": "x = 1\n", "shop/closed.py": "x = 1\n", "shop/sparse.py": ""})
    os.truncate(root / "shop/sparse.py", 10**12)
    (root / "shop/closed.py").chmod(0)
    (root / "closed").chmod(0)
