"""What a reader should know of a patch before anything else."""

import re

from triage.domain.patch import BaseFile, FileVersion, PatchDraft
from triage.patches.path_rules import show_path
from triage.patches.unified_diff import count_changed_lines
from triage.proposal_ports import BaseFiles

LARGE_DIFF_LINES = 300
MANY_MODULES = 2
LONG_LINE_CHARS = 200
"""Of a new line. GitHub shows about so many beside each other; the rest has to be scrolled to."""
_RUN_BY_TOOLS = re.compile(
    r"(?:^|/)(?:setup\.(?:py|cfg)|pyproject\.toml|tox\.ini|pytest\.ini|noxfile\.py|conftest\.py|tasks\.py|dodo\.py"
    r"|(?:site|user)customize\.py|[^/]+\.pth|requirements[^/]*\.(?:txt|in)|meson\.build|sconstruct|sconscript|wscript"
    r"|package\.json|deno\.jsonc?|binding\.gyp|(?:jest|vite|vitest|webpack|rollup|babel|karma|gulp|grunt|postcss|next|nuxt"
    r"|astro|svelte|esbuild|tsup|metro|eslint|prettier|playwright|cypress|ava|mocha)(?:file|\.conf(?:ig)?|\.setup)[^/]*"
    r"|(?:gnu)?makefile(?:\.(?!py)\w+)?|[^/]+\.mk|cmakelists\.txt|[^/]+\.cmake|configure(?:\.ac|\.in)?|justfile|taskfile\.ya?ml"
    r"|magefile\.go|go\.(?:mod|work)|cargo\.toml|build\.rs|pom\.xml|[^/]+\.(?:gradle|gradle\.kts|sbt)|build\.sc|build\.xml"
    r"|gemfile|rakefile|[^/]+\.(?:gemspec|rake)|(?:spec|test)_helper\.rb|composer\.json|phpunit\.xml[^/]*|mix\.exs"
    r"|rebar\.config|package\.swift|podfile|cartfile|[^/]+\.podspec|[^/]+\.(?:cs|fs|vb|vcx)proj|[^/]+\.(?:props|targets)"
    r"|build(?:\.bazel)?|workspace(?:\.bazel)?|module\.bazel|[^/]+\.bzl|dockerfile[^/]*|(?:docker-)?compose[^/]*\.ya?ml"
    r"|vagrantfile|makefile\.pl|build\.pl|dune|dune-project|stack\.ya?ml|[^/]+\.cabal|project\.clj|deps\.edn)$",
    re.IGNORECASE,
)
"""Files that package managers, build tools and test runners execute or obey."""


def list_warnings(draft: PatchDraft, files: BaseFiles) -> list[str]:
    """Return warnings of one sentence each. Names in them are a model's words."""
    counts = count_changed_lines(draft, files)
    lines = sum(count.added + count.removed for count in counts)
    number = "1 file" if len(counts) == 1 else f"{len(counts)} files"
    warnings = [f"Large diff: about {lines:,} lines in {number}."] if lines > LARGE_DIFF_LINES else []
    if len(draft.modules) > MANY_MODULES:
        warnings.append(f"Multi-module change: {', '.join(show_path(module.name) for module in draft.modules)}.")
    if run_by_tools := [show_path(file.path) for file in draft.files if _RUN_BY_TOOLS.search(file.path)]:
        warnings.append(f"Runs when the project is installed, built or tested: {', '.join(run_by_tools)}.")
    if long := [show_path(file.path) for file in draft.files if _has_long_line(file, files)]:
        warnings.append(f"Lines of more than {LONG_LINE_CHARS} characters: {', '.join(long)}.")
    return warnings


def _has_long_line(file: FileVersion, files: BaseFiles) -> bool:
    base = files.read(file.path)
    known = set(base.text.splitlines()) if isinstance(base, BaseFile) else set()
    return any(len(line) > LONG_LINE_CHARS and line not in known for line in file.text.splitlines())
