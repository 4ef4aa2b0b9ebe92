"""A stub in place of LangSmith's client, which traces nothing here and takes a quarter of a second to import.

LangChain imports `langsmith` with tracing on or off (`langchain_core/tracers/schemas.py`), and asks it for a parent run
of every graph (`_configure` in `langchain_core/callbacks/manager.py`). Our processes send no traces: the answer is
always that there is none. Known here is what LangChain asks to find that out. Any other name loads the real package, so
that a release of LangChain that asks for more makes a run slower, and changes nothing else.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_CONTEXT = ("parent", "project_name", "address", "tags", "metadata", "client", "replicas", "distributed_parent_id")


class _StubModule(ModuleType):
    """A module that knows a few names and loads the real one for any other."""

    def __init__(self, name: str, known: Mapping[str, object], path: Sequence[str] = ()) -> None:
        super().__init__(name)
        self.__path__ = list(path)  # where other submodules are
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        remove()
        return getattr(import_module(self.__name__), name)


class _Unmade:
    """In the place of a class: whoever makes one gets a real one."""

    def __new__(cls, *values: Any, **named: Any) -> Any:
        remove()
        return getattr(import_module("langsmith"), cls.__name__)(*values, **named)


def _get_tracing_context() -> dict[str, Any]:
    return dict.fromkeys(_CONTEXT) | {"enabled": False}


def install() -> None:
    """Put the stub where `import langsmith` looks first, unless the real package is loaded."""
    if "langsmith" in sys.modules:
        return
    ask = {"get_tracing_context": _get_tracing_context}
    known: dict[str, Mapping[str, object]] = {
        "run_helpers": {**ask, "_set_tracing_context": lambda _: None},
        "utils": {"tracing_is_enabled": lambda *_: False},
        "run_trees": {"_CLIENT": None},
        "address": {},
    }
    modules = {name: _StubModule(f"langsmith.{name}", names) for name, names in known.items()}
    classes = {name: type(name, (_Unmade,), {"model_dump": None}) for name in ("RunTree", "Client")}
    real = find_spec("langsmith")
    path = (real and real.submodule_search_locations) or ()
    package = _StubModule("langsmith", {**modules, **classes, **ask}, path)
    sys.modules |= {module.__name__: module for module in (package, *modules.values())}


def remove() -> None:
    for name, module in list(sys.modules.items()):
        if isinstance(module, _StubModule):
            del sys.modules[name]
