"""Everything that a run imports, imported: a process that is forked from here starts at once."""

import importlib
import pkgutil

import triage

APART = ("triage.__main__", "triage.cli", "triage.server")
"""Other ways in."""

for _module in pkgutil.walk_packages(triage.__path__, "triage."):
    if _module.name not in APART:
        importlib.import_module(_module.name)
