"""Checkouts whose files, trees and commits are too much, too deep, damaged or lying."""

import subprocess
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from testing.checkouts.git_objects import FILE, FOLDER, MODULE, ObjectStore, Row, find_object_file
from testing.checkouts.git_repositories import ENVIRONMENT, git
from testing.checkouts.hostile_base import make_checkout
from testing.runs.sample_bug import BASKET

_TEXT = "def größe(preis):\n    return preis\n"
_KANA = "def total():\n    return '合計'\n"
ENCODINGS: Mapping[str, bytes] = {
    "latin1.py": _TEXT.encode("latin-1"),
    "utf8-bom.py": _TEXT.encode("utf-8-sig"),
    "utf16-bom.py": _TEXT.encode("utf-16"),
    "utf16-le.py": _TEXT.encode("utf-16-le"),
    "utf16-be.py": _TEXT.encode("utf-16-be"),
    "utf16-odd.py": _TEXT.encode("utf-16") + b"\x00\xd8x",
    "utf32.py": _TEXT.encode("utf-32"),
    "utf32-cut.py": _TEXT.encode("utf-32")[:-3],
    "utf7.py": _TEXT.encode("utf-7"),
    "ebcdic.py": _TEXT.encode("cp500"),
    "shift-jis.py": _KANA.encode("shift-jis"),
    "iso2022.py": _KANA.encode("iso2022-jp"),
    "nul.py": b"x = 1\0\ny = 2\n",
    "nul-late.py": b"x = 1\n" * 3_000 + b"\0",
    "mixed.py": b"a = 1\r\nb = 2\nc = 3\rd = 4\r\r\ne = 5\x0bf\x0cg\xc2\x85h\xe2\x80\xa8i",
    "cr.py": b"a = 1\rb = 2\rc = 3\r",
    "surrogates.py": b"x = '\xed\xa0\x80\xed\xb0\x80'\n",
    "bom-only.py": b"\xef\xbb\xbf",
    "bom16-only.py": b"\xff\xfe",
    "empty.py": b"",
    "no-end.py": b"x = 1",
    "invisible.py": "x = 1  # \u202e\u2066\u200b\U000e0041\ufeff\n".encode(),
    "cookie.py": b"# -*- coding: no-such-codec -*-\nx = 1\n",
}


def encodings(root: Path) -> None:
    make_checkout(root, {f"shop/{name}": data for name, data in ENCODINGS.items()})


_BRACKETS: Mapping[str, str] = {
    "py": "(", "js": "[", "ts": "{", "tsx": "<a>", "go": "(", "rs": "(", "java": "(", "c": "(", "cpp": "<", "cs": "(",
    "rb": "[", "php": "[", "kt": "(", "swift": "(", "scala": "(", "lua": "{", "sh": "$(", "ex": "(", "hs": "(", "dart": "(",
    "json": "[", "yml": "[", "html": "<b>", "css": "a{", "sql": "(", "ml": "(", "clj": "(", "vue": "<b>", "zig": "(",
}  # fmt: skip


def deep(root: Path) -> None:
    """Brackets in brackets, for every grammar: fifty, a thousand, a hundred thousand."""
    files = {
        f"deep/{count}.{end}": ("<?php " if end == "php" else "") + "x = " + "\n".join([bracket * 50] * (count // 50))
        for end, bracket in _BRACKETS.items()
        for count in (50, 1_000, 100_000)
    }
    make_checkout(root, files)


def many_definitions(root: Path) -> None:
    """As many definitions as a file can hold."""
    make_checkout(root, {
        "shop/many.py": "".join(f"def f{number}():0\n" for number in range(33_000)),
        "shop/many.js": "".join(f"let f{number}=()=>0\n" for number in range(27_000)),
        "shop/nested.py": "".join(" " * number + f"class C{number}:\n" for number in range(900)),
    })  # fmt: skip


def large_files(root: Path) -> None:
    """A hundred megabytes, a line of ten megabytes, lines of half a megabyte."""
    make_checkout(root, {"shop/large.py": b"x = 1\n" * (100_000_000 // 6), "shop/line.py": b"x" * 10_000_000})
    make_checkout(root, {"shop/long.py": "x = '" + "y" * 500_000 + "'\n", "shop/words.py": "word " * 100_000})


def bombs(root: Path) -> None:
    """Objects of a few bytes that unpack to gigabytes, and some that say they are small."""
    objects = ObjectStore(root)
    head, packer = b"blob 1000000000\0", zlib.compressobj(1)
    zeros = bytes(10_000_000)
    squeezed = packer.compress(head) + b"".join(packer.compress(zeros) for _ in range(100)) + packer.flush()
    honest, lying = "11" * 20, "22" * 20
    objects.store(honest, squeezed)
    packer = zlib.compressobj(1)
    objects.store(
        lying, packer.compress(b"blob 10\0") + b"".join(packer.compress(zeros) for _ in range(100)) + packer.flush()
    )
    rows: list[Row] = [(FILE, b"honest.py", honest), (FILE, b"lying.py", lying)]
    _with_shop(objects, rows)


def deltas(root: Path) -> None:
    """A small file that git makes from a gigabyte."""
    source = [b"blob\nmark :1\ndata 1000000000\n", *([bytes(10_000_000)] * 100), b"\n"]
    small = BASKET.encode()
    commands = b"blob\nmark :2\ndata %d\n%s\ncommit refs/heads/main\ncommitter A <a@b> 0 +0000\ndata 0\n" % (
        len(small),
        small,
    )
    tree = b"M 100644 :2 shop/basket.py\nM 100644 :1 shop/zeros.py\n"
    imported(root, [*source, commands, tree])


def imported(root: Path, stream: Iterable[bytes]) -> None:
    """A repository without files on disk, made by `git fast-import`."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    with subprocess.Popen(
        ["git", "-C", str(root), "fast-import", "--quiet"], stdin=subprocess.PIPE, env=ENVIRONMENT
    ) as importer:
        assert importer.stdin is not None
        importer.stdin.writelines(stream)
        importer.stdin.close()
        assert importer.wait() == 0


def a_tree_without_end(root: Path) -> None:
    """Ten folders in ten folders, ten levels deep: ten thousand million files from eleven objects."""
    objects = ObjectStore(root)
    tree = objects.tree([(FILE, b"f%d.py" % number, objects.blob(BASKET.encode())) for number in range(10)])
    for _ in range(9):
        tree = objects.tree([(FOLDER, b"d%d" % number, tree) for number in range(10)])
    _with_shop(objects, [(FOLDER, b"z", tree)])


def a_wide_tree(root: Path, width: int = 100_000) -> None:
    """One folder of very many files."""
    objects = ObjectStore(root)
    blob = objects.blob(b"x = 1\n")
    _with_shop(objects, [(FILE, b"f%07d.py" % number, blob) for number in range(width)])


def many_submodules(root: Path) -> None:
    objects = ObjectStore(root)
    _with_shop(objects, [(MODULE, b"m%06d" % number, "ab" * 20) for number in range(50_000)])


def odd_modes(root: Path) -> None:
    objects = ObjectStore(root)
    blob = objects.blob(b"x = 1\n")
    modes = (b"100664", b"100600", b"0100644", b"777777", b"000000", b"140000", b"1", b"40644", b"100644 100644", b"")
    rows = [(mode, b"m%d.py" % number, blob) for number, mode in enumerate(modes)]
    _with_shop(objects, [*rows, (FOLDER, b"blob-as-folder", blob), (FILE, b"tree-as-file", objects.tree([]))])


def _with_shop(objects: ObjectStore, rows: list[Row]) -> None:
    shop = objects.tree([(FILE, b"basket.py", objects.blob(BASKET.encode()))])
    objects.commit(objects.tree([(FOLDER, b"shop", shop), *rows]))


def odd_commit(root: Path) -> None:
    """Ten megabytes of message, authors and an encoding that are none."""
    objects = ObjectStore(root)
    shop = objects.tree([(FILE, b"basket.py", objects.blob(BASKET.encode()))])
    tree = objects.tree([(FOLDER, b"shop", shop)])
    who = b"\xff\x00"[:1] + b"\x1b[31m <@octocat> 99999999999999999999 +9999"
    objects.commit(
        tree, message=b"::error::x " * 1_000_000, extra=b"encoding no-such\ngpgsig " + b"x" * 9_000 + b"\n", who=who
    )


def _damage(how: Callable[[Path, str], None]) -> Callable[[Path], None]:
    """A checkout with one object damaged."""

    def make(root: Path) -> None:
        make_checkout(root, {f"shop/m{number:02}.py": f"x = {number}\n" for number in range(20)})
        how(root, git(root, "rev-parse", "HEAD:shop/m03.py"))

    return make


def _nonsense(root: Path, name: str) -> None:
    find_object_file(root, name).write_bytes(b"nonsense")


def _cut(root: Path, name: str) -> None:
    file = find_object_file(root, name)
    file.write_bytes(file.read_bytes()[:-6])


def _other(root: Path, name: str) -> None:
    find_object_file(root, name).write_bytes(zlib.compress(b"blob 6\0x = 9\n"))


def _kind(root: Path, name: str) -> None:
    find_object_file(root, name).write_bytes(zlib.compress(b"tag 6\0x = 9\n"))


def _gone(root: Path, name: str) -> None:
    find_object_file(root, name).unlink()


def _tree_gone(root: Path, name: str) -> None:
    find_object_file(root, git(root, "rev-parse", "HEAD:shop")).unlink()


def _commit_gone(root: Path, name: str) -> None:
    find_object_file(root, git(root, "rev-parse", "HEAD")).unlink()


def _pack_cut(root: Path, name: str) -> None:
    git(root, "repack", "-a", "-d", "-q")
    (pack,) = (root / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[: pack.stat().st_size // 2])


def _pack_spoilt(root: Path, name: str) -> None:
    git(root, "repack", "-a", "-d", "-q")
    (pack,) = (root / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[200:260] = bytes(60)
    pack.write_bytes(data)


def _commit_graph(root: Path, name: str) -> None:
    """The graph says that HEAD has another tree."""
    make_checkout(root, {"shop/basket.py": "other = 1\n"})
    first, last = git(root, "rev-parse", "HEAD^{tree}", "HEAD~1^{tree}").split()
    git(root, "commit-graph", "write", "--reachable", "--changed-paths")
    graph = root / ".git/objects/info/commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(graph.read_bytes().replace(bytes.fromhex(first), bytes.fromhex(last)))


def _commit_graph_spoilt(root: Path, name: str) -> None:
    git(root, "commit-graph", "write", "--reachable")
    graph = root / ".git/objects/info/commit-graph"
    graph.chmod(0o644)
    graph.write_bytes(graph.read_bytes()[:40] + b"\xff" * 4_000)


DAMAGED: Mapping[str, Callable[[Path], None]] = {
    "an object is nonsense": _damage(_nonsense),
    "an object is cut": _damage(_cut),
    "an object is another": _damage(_other),
    "an object is of another kind": _damage(_kind),
    "an object is gone": _damage(_gone),
    "a tree is gone": _damage(_tree_gone),
    "the commit is gone": _damage(_commit_gone),
    "a pack is cut": _damage(_pack_cut),
    "a pack is spoilt": _damage(_pack_spoilt),
    "a commit graph that lies": _damage(_commit_graph),
    "a commit graph that is nonsense": _damage(_commit_graph_spoilt),
}
