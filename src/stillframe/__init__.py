"""Takes a program that runs a model, and a recording of it; gives `record` and `open`, from which everything is reached.

Importing it imports no torch and no stage of the tool: each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stillframe.errors import StillframeError
    from stillframe.reading.still import open_still as open
    from stillframe.session import record

__all__ = ["StillframeError", "open", "record"]

_HOMES = {
    "StillframeError": ("stillframe.errors", "StillframeError"),
    "open": ("stillframe.reading.still", "open_still"),
    "record": ("stillframe.session", "record"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'stillframe' has no attribute {name!r}; it has {', '.join(__all__)}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
