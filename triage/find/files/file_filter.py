"""Decides which files are not indexed, with the reason that the report gives, and which are copies of others."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import re2  # type: ignore[import-untyped]
from pathspec import PathSpec

from triage.find.files.documentation import is_documentation
from triage.find.files.languages import detect_language
from triage.git.tree import Entry, Listing
from triage.safety.secrets.secret_file_names import may_hold_secrets

IGNORED = "ignored by the project"
MAX_CODE_BYTES = 512 * 1024
"""Measured: with half of it, files that real fixes edit are lost."""
MAX_TEXT_BYTES = 256 * 1024

_VENDORED = re.compile(
    r"(?:^|/)(?:node_modules|vendor|_vendor|third[-_]?party|bower_components|jspm_packages|dist-packages|site-packages"
    r"|Godeps|Pods|Carthage|\.yarn|\.pnpm|\.pnpm-store|\.venv|\.tox|\.nox|\.gradle|__pypackages__)/"
    r"|(?:^|(?:^|/)(?:assets|static|public|resources|libs?|js|css|www|wwwroot|web)/)vendors/"
)
_VENDORED_NAME = re.compile(r"^(?:\.pnp\.[cm]?js|gradlew(?:\.bat)?|mvnw(?:\.cmd)?)$")
_PACKAGE_FOLDER = re.compile(r"(?<=/)vendor/")
_JVM_NAME = re.compile(r"\.(?:java|kts?|scala|groovy)$")
"""JVM projects do not copy foreign sources into the tree. There, such a folder is a package about vendors."""
_LOCK_NAME = re.compile(
    r"(?:\.(?:lock|lockb|lockfile|locked)|[.-]lock\.(?:json|ya?ml|hcl)|^npm-shrinkwrap\.json|^shrinkwrap\.yaml|^go\.(?:work\.)?sum"
    r"|^pylock(?:\.[\w-]+)?\.toml|^(?:julia)?manifest(?:-v[\d.]+)?\.toml|^(?:package|cartfile)\.resolved|^packages\.lock\.json"
    r"|^project\.assets\.json|^cabal\.project\.freeze|^cpanfile\.snapshot|^dub\.selections\.json|^verification-metadata\.xml)$"
)
"""Versions and checksums that package managers write: the languages of `languages.py`, Nix, Terraform, Helm."""
_GENERATED_NAME = re.compile(
    r"(?:\.pb(?:\.gw|\.validate)?\.(?:go|cc|h|c)|_pb2(?:_grpc)?\.pyi?|_pb\.(?:js|d\.ts)|\.pb\.swift|\.g\.(?:cs|dart)"
    r"|\.pb(?:objc)?\.(?:dart|m|rs)|_pb\.rb|\.pb-c\.[ch]|\.freezed\.dart|\.designer\.(?:cs|vb)|\.g\.i\.cs"
    r"|\.generated\.\w{1,10}|_generated\.\w{1,10}|\.gen\.(?:go|[jt]sx?|rs|cs|dart)|\.tab\.[ch]|(?:^|/)lex\.yy\.c"
    r"|(?:^|/)(?:moc|qrc)_\w+\.cpp|(?:^|/)ui_\w+\.h|(?:^|/)zz_generated\.[\w.]+|\.snap|\.(?:js|css|mjs|cjs)\.map)$",
    re.I,
)
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|cjs|css)$", re.I)
_BINARY_NAME = re.compile(
    r"\.(?:png|jpe?g|gif|ico|icns|bmp|webp|avif|tiff?|psd|woff2?|ttf|otf|eot|mp[34]|m4a|ogg|wav|flac|webm|avi|mov|mkv|pdf"
    r"|zip|gz|tgz|bz2|xz|zst|7z|rar|tar|jar|war|ear|aar|apk|class|dex|pyc|pyo|o|a|so|dll|dylib|exe|lib|pdb|wasm|bin"
    r"|db|sqlite3?|mo|gmo|npy|npz|h5|hdf5|parquet|pkl|pickle|onnx|pt|safetensors|fits|shp|dbf|mdb|docx?|xlsx?|pptx?"
    r"|odt|ods|keystore|jks|p12|pfx|der)$",
    re.I,
)
ATTRIBUTES = ".gitattributes"
MAX_ATTRIBUTES_BYTES = 262_144
MAX_PATTERNS = 500
_MARK = re.compile(r"\slinguist-(?:generated|vendored|documentation)(?:=(?:true|1))?(?=\s|$)")
"""By GitHub's documentation (linguist, overrides). `-linguist-generated` and `=false` unset it."""
_BUILT = re.compile(r"(?:^|/)(?:generated|gen|dist|build|out|bundled?)/")
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$")
_SOURCES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx")


def get_skip_reason(path: str, size: int) -> str | None:
    """Return why a file is left out by its path and size; None if its content decides."""
    folder, slash, name = path.rpartition("/")
    if may_hold_secrets(path):
        return "may hold secrets"
    if _is_vendored(folder + slash, is_jvm=_JVM_NAME.search(name) is not None):
        return "vendored"
    if reason := _find_skip_reason_in_name(name):
        return reason
    if size > (MAX_CODE_BYTES if detect_language(path) or is_documentation(path) else MAX_TEXT_BYTES):
        return "too large"
    return None


@lru_cache(maxsize=4_096)
def _is_vendored(folder: str, *, is_jvm: bool) -> bool:
    return _VENDORED.search(_PACKAGE_FOLDER.sub("", folder) if is_jvm else folder) is not None


@lru_cache(maxsize=16_384)
def _find_skip_reason_in_name(original: str) -> str | None:
    if _VENDORED_NAME.search(original):
        return "vendored"
    name = original.lower()
    if _LOCK_NAME.search(name):
        return "lock file"
    if _BINARY_NAME.search(name):
        return "binary"
    if _MINIFIED_NAME.search(name):
        return "minified"
    if _GENERATED_NAME.search(name):
        return "generated"
    return None


def remove_ignored(listing: Listing, patterns: Sequence[str]) -> Listing:
    """Return the listing without the files that gitignore patterns match, and count those in `left_out`.

    The last pattern that matches a file, or a folder that the file is in, decides. Git would also look at each folder
    by itself, and never include a file of an ignored folder again.
    """
    if not patterns:
        return listing
    # The default backend backtracks: a hostile pattern would keep it busy for hours.
    ignored = PathSpec.from_lines("gitignore", patterns, backend="re2")
    entries = [entry for entry in listing.entries if not ignored.match_file(entry.path)]
    counted = Counter({IGNORED: len(listing.entries) - len(entries)})
    return replace(listing, entries=entries, left_out=listing.left_out + counted)


def parse_attributes(text: str) -> list[str]:
    """Return the patterns of a `.gitattributes` file that mark generated, vendored or documentation files."""
    marked = (line.split()[0] for line in text.splitlines() if not line.startswith("#") and _MARK.search(line))
    return [pattern for pattern in marked if not pattern.startswith(('"', "!"))][:MAX_PATTERNS]


def find_copies(entries: Sequence[Entry], patterns: Sequence[str]) -> frozenset[str]:
    """Return the paths that match a pattern, type declarations beside their source, and built copies of other files."""
    paths = [entry.path for entry in entries]
    return frozenset([*_find_marked(paths, patterns), *_find_declarations(paths), *_find_built(entries)])


def _find_built(entries: Sequence[Entry]) -> Iterable[str]:
    built = [entry for entry in entries if _BUILT.search(entry.path)]
    written = {entry.blob_id for entry in entries if not _BUILT.search(entry.path)} if built else set[str]()
    return (entry.path for entry in built if entry.blob_id and entry.blob_id in written)


def _find_marked(paths: Sequence[str], patterns: Sequence[str]) -> Iterable[str]:
    """Return the paths that gitignore patterns match; none if a pattern cannot be read."""
    if not patterns:
        return []
    try:
        # The default backend backtracks: a hostile pattern would keep it busy for hours.
        marked = PathSpec.from_lines("gitignore", patterns, backend="re2")
    except (ValueError, re.error, re2.error):
        return []
    return marked.match_files(paths)


def _find_declarations(paths: Sequence[str]) -> Iterable[str]:
    """Yield declarations of types whose source is there too, such as `a.d.ts` of `a.js`."""
    declarations = [path for path in paths if _DECLARATIONS.search(path)]
    known = set(paths) if declarations else set[str]()
    for path in declarations:
        stem = _DECLARATIONS.sub("", path)
        if any(stem + ending in known for ending in _SOURCES):
            yield path
