"""Takes a source file to be woven; gives its woven code, from the disk when the same text was woven before.

Knows no run. What is kept is Python's own serialised code, as in a .pyc, in the user's cache folder, under a name that
depends on the text, on the interpreter and on this version of the weaver.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import marshal
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from stillframe.capture import expressions, places, planter, sites, syntax, weave
from stillframe.capture.places import PlannedFunction, PlannedSite
from stillframe.capture.sites import Unit
from stillframe.capture.weave import WovenFile, collector_at_rest, weave_source

_OWN = (places, expressions, planter, sites, syntax, weave)
_fingerprint: list[str] = []
_DIGEST = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Where woven code is kept: $STILLFRAME_CACHE, or the user's cache folder."""
    named = os.environ.get("STILLFRAME_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    if sys.platform == "win32":
        base = base or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "stillframe"


def woven_file(source: str, path: str, units: Iterable[Unit] | None = None) -> WovenFile:
    """The woven code of the chosen units of a file; see `weave.weave_source`. An unreadable cache is passed over."""
    chosen = None if units is None else sorted({(unit.qualname, unit.line) for unit in units})
    entry = cache_folder() / "woven" / f"{_name(source, path, chosen)}.marshal"
    found = _load(entry, path)
    if found is None:
        found = weave_source(source, path, None if chosen is None else [Unit(*one) for one in chosen])
        _store(entry, found)
    return found


def _name(source: str, path: str, chosen: list[tuple[str, int]] | None) -> str:
    if not _fingerprint:
        own = hashlib.sha256()
        for module in _OWN:
            own.update(Path(module.__file__ or "").read_bytes())
        _fingerprint.append(f"{own.hexdigest()} {importlib.util.MAGIC_NUMBER.hex()} {sys.version} {sys.flags.optimize}")
    parts = (_fingerprint[0], path, repr(chosen), source)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _load(entry: Path, path: str) -> WovenFile | None:
    try:
        kept = entry.read_bytes()
        if hashlib.sha256(kept[_DIGEST:]).digest() != kept[:_DIGEST]:
            return None  # half written, or damaged: reading such data as code is not safe
        with collector_at_rest():
            functions, planned, plain, marked = marshal.loads(kept[_DIGEST:])
            named = tuple(map(PlannedFunction._make, functions)), tuple(map(PlannedSite._make, planned))
        return WovenFile(path, *named, plain, marked)
    except (OSError, ValueError, EOFError, TypeError):
        return None


def _store(entry: Path, woven: WovenFile) -> None:
    rows = [[tuple(one) for one in group] for group in (woven.functions, woven.sites)]
    data = marshal.dumps((*rows, woven.plain, woven.marked))
    with contextlib.suppress(OSError):  # a cache that cannot be written costs time, nothing else
        entry.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=entry.parent, delete=False) as file:
            try:
                file.write(hashlib.sha256(data).digest() + data)
                file.close()
                os.replace(file.name, entry)
            except OSError:
                os.unlink(file.name)
