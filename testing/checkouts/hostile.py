"""Every odd checkout by name, with the function that makes it in a folder that is empty or missing.

Files beside the checkout are in `outside_folder(root)`. After a run `trap_was_run(root)` is false and `CANARY` does
not appear anywhere.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from testing.checkouts import hostile_clones, hostile_config, hostile_content, hostile_names
from testing.checkouts.hostile_base import CANARY, outside_folder, trap_was_run

__all__ = ["CANARY", "CHECKOUTS", "SLOW", "outside_folder", "trap_was_run"]


def _list_functions(module: ModuleType) -> Mapping[str, Callable[[Path], None]]:
    # Public functions by name.
    return {
        name.replace("_", " "): function
        for name, function in vars(module).items()
        if callable(function) and getattr(function, "__module__", "") == module.__name__ and not name.startswith("_")
    }


CHECKOUTS: Mapping[str, Callable[[Path], None]] = {
    **_list_functions(hostile_clones),
    **_list_functions(hostile_config),
    **_list_functions(hostile_names),
    **_list_functions(hostile_content),
}
SLOW = frozenset({"large files", "deep", "many definitions"})
"""These take seconds to make or to read."""
