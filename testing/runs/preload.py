"""Imports everything that a run imports, so that a process forked from here starts at once."""

import gc
import importlib
import pkgutil

import triage

OTHER_ENTRY_POINTS = ("triage.__main__", "triage.app.server")

gc.disable()
for _module in pkgutil.walk_packages(triage.__path__, "triage."):
    if _module.name not in OTHER_ENTRY_POINTS:
        importlib.import_module(_module.name)
gc.freeze()
gc.enable()
