"""Takes a source file's path; says whether its functions count as the reader's, and why.

Knows no weaving and no run. The reader's code is the script, the notebook or package it belongs to, and the model files of
libraries with the helpers they call; torch, the standard library and this tool are passed through.
"""

from __future__ import annotations

import linecache
import os
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

OWN_FOLDER = str(Path(__file__).resolve().parents[1]) + os.sep
_STANDARD_LIBRARY = tuple(
    os.path.join(folder(path), "")
    for path in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    for folder in (str, os.path.realpath)
    if path
)
_INSTALLED = ("site-packages", "dist-packages")
_TORCH_PLUMBING = tuple(os.path.join("torch", "nn", "modules", name) for name in ("module.py", "_functions.py", "lazy.py"))


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a file is in scope; `origin` as in records.SourceFile; a sentence why."""

    in_scope: bool
    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class ScopeRules:
    """What the reader asked for. `roots`: folders whose files are the reader's. `inside`: torch.nn's Python counts too.

    `include` and `exclude` are dotted module names; each stands for the modules below it as well, and the longer name wins.
    """

    roots: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    inside: bool = False


@dataclass(slots=True)
class Scope:
    """Answers for files, and remembers."""

    rules: ScopeRules
    _known: dict[str, Decision] = field(default_factory=dict)

    def of(self, path: str, module: str = "") -> Decision:
        """The decision for the file a code object names, in the module of that name."""
        decision = self._known.get(path)
        if decision is None:
            decision = self._known[path] = self._decide(path, module)
        return decision

    def _decide(self, path: str, module: str) -> Decision:
        asked = _longest(module, self.rules.include), _longest(module, self.rules.exclude)
        if asked[1] > asked[0]:
            return Decision(False, "library", f"{module} was excluded on request")
        if path.startswith("<"):
            if linecache.getlines(path):
                return Decision(True, "interactive", "typed in a notebook or at a prompt")
            return Decision(False, "interactive", "no source text: it was made from a string")
        full = os.path.abspath(path)
        folder = _installed_in(full)
        if not folder and not full.startswith(_STANDARD_LIBRARY):
            full = os.path.realpath(full)  # a link may lead into an installed package, or out of one
            folder = _installed_in(full)
        if full.startswith(OWN_FOLDER):
            return Decision(False, "library", "part of stillframe itself")
        if asked[0]:
            return Decision(True, "user", f"{module} was included on request")
        if not folder:
            if full.startswith(_STANDARD_LIBRARY):
                return Decision(False, "library", "part of Python's standard library")
            if any(full.startswith(os.path.join(os.path.realpath(root), "")) for root in self.rules.roots):
                return Decision(True, "user", "belongs to the program being read")
            return Decision(True, "library", "in no installed package; counts where a model calls it")
        package = full[len(folder) :].split(os.sep, 1)[0]
        if package in ("torch", "functorch", "torchgen"):
            inner = full[len(folder) :]
            if self.rules.inside and inner.startswith(os.path.join("torch", "nn")) and inner not in _TORCH_PLUMBING:
                return Decision(True, "library", "torch.nn is opened on request")
            return Decision(False, "library", "part of torch")
        return Decision(True, "library", "installed; counts where a model calls it")


def package_path(path: str) -> str:
    """The path from the folder that holds its top-level package; a file's name alone if it is in no package."""
    if path.startswith("<"):
        return path
    folder = Path(path).parent
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return Path(path).relative_to(folder).as_posix()


def _longest(module: str, names: tuple[str, ...]) -> int:
    return max((len(name) for name in names if module == name or module.startswith(name + ".")), default=0)


def _installed_in(path: str) -> str:
    """The folder of installed packages a path lies in, with a separator at its end; "" if it lies in none."""
    for name in _INSTALLED:
        head, found, _ = path.rpartition(os.sep + name + os.sep)
        if found:
            return head + found
    return ""
