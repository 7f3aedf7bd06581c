"""Holds the frozen records a recording is made of: what capture produces, the file keeps and reading consumes.

Knows no stage of the tool and no torch: plain data, ids and shapes. Ids are positive integers, 0 means "none".
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source file in scope. `path` as the code object names it, `text` its whole text at the time of the run.

    `package_path` is the path relative to the folder its top-level package stands in ("transformers/models/…/x.py"),
    or just the file's name for a script; `origin` is "script", "user", "library" or "interactive" (a notebook cell).
    """

    id: int
    path: str
    package_path: str
    origin: str
    text: str


@dataclass(frozen=True, slots=True)
class Function:
    """One function (or module body) whose sites are watched. Lines are 1-based; `line` is its first decorator's or `def`'s."""

    id: int
    file: int
    qualname: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Site:
    """One watched place in a source file.

    `kind`: value (an expression), test (the truth of a condition's operand), enter (a call of the function), param (an
    argument as the function received it), bind (a name bound by a statement: for, with, import, augmented assignment …),
    store (an object after an element or attribute of it was written), except (a handler entered), case (a match arm
    entered), mark (a statement without a value that was reached).
    `line`, `end_line` are 1-based; `col`, `end_col` are UTF-8 byte offsets as in `ast`.
    `node` is the `ast` class name of what stands there. `use` is what the value is for: assign, return, yield, test,
    operand, argument, expression (a bare statement), iterate, context, subject, index, target.
    `binds` are the names the value is bound to, as source text of the targets ("q", "(a, b)", "self.cache", "x[0]"),
    joined by " = " when there are several; "" if none.
    """

    id: int
    function: int
    kind: str
    node: str
    use: str
    line: int
    col: int
    end_line: int
    end_col: int
    binds: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """One call of a function in scope.

    `caller` is the frame in scope that (through the functions of `chain`) called it, `call_site` the call expression
    there that was being evaluated; 0 when there is none, or none is known. `chain` names the functions out of scope that
    stood between the two, outermost first. `owner` is the value id of `self` (0 when it has none). `phase` is forward,
    backward (called by the autograd engine) or recompute (gradient checkpointing runs a forward again, in backward).
    `thread` counts threads from 1 in order of appearance. `first_event` is the index of its enter event.
    """

    id: int
    function: int
    caller: int
    call_site: int
    chain: tuple[str, ...]
    owner: int
    phase: str
    thread: int
    first_event: int


@dataclass(frozen=True, slots=True)
class Event:
    """A site evaluated: the index in the recording's order, the site, the frame (0: unknown) and the value's id."""

    index: int
    site: int
    frame: int
    value: int


@dataclass(frozen=True, slots=True)
class Value:
    """What a site evaluated to, at that moment.

    `about` is the bounded description (see docs/format.md): always `kind` ("tensor", "int", "tuple", "module", …); for
    tensors also type, dtype, shape, stride, offset (in elements), device, layout, requires_grad and more. `object` is the
    identity of the Python object: two values with the same non-zero `object` are one object at two moments. `storage` is
    the identity of the memory, `content` where its bytes are (0: not kept), `version` torch's count of in-place writes
    (-1: not counted). `base` is the object a view was made from, 0 if it is none.
    """

    id: int
    about: Mapping[str, Any]
    object: int
    storage: int
    content: int
    version: int
    base: int


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes or a summary of memory at one moment.

    `form` is "storage" (the whole storage; a view is read out of it by offset and stride, both in elements), "dense" (one
    value's elements, C order, no gaps) or "summary" (`data` is UTF-8 JSON: exact min, max, mean, std, counts of nan, posinf,
    neginf and zero, and a strided sample). Bytes are little-endian, in the dtype of the value that refers to them.
    """

    id: int
    storage: int
    form: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Module:
    """A torch module seen in the run: `object` identity, dotted `path` from its root ("" for the root), class, parameters.

    `root` is the object identity of the root module. `parameters` maps the names of its own parameters and buffers to
    their shapes.
    """

    object: int
    root: int
    path: str
    class_name: str
    training: bool
    parameters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mark:
    """A `breakpoint()` met on the way: after which event, in which frame (0: out of scope), where, and all locals there."""

    id: int
    after_event: int
    frame: int
    path: str
    line: int
    function: str
    names: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that left a function in scope, outermost frame first in `frames`.

    `names` maps, for each entry of `frames`, the names in that frame to value ids: the values in flight. `lines` are where
    each of these frames stood. `caught_in` is the frame whose handler took it, 0 if it left the run.
    """

    id: int
    after_event: int
    type_name: str
    message: str
    frames: tuple[int, ...]
    lines: tuple[int, ...]
    names: tuple[Mapping[str, int], ...]
    caught_in: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader of a recording must know: what is missing or different, where, and why.

    `kind`: incomplete (something was lost), unwoven (a function could not be watched), path (the watched run did, or may
    have, taken another path than an unwatched one), process (a child process was not followed).
    """

    kind: str
    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    """What is committed together.

    Event and value columns are signed 64-bit; see schema.sql for their order. Content i has three numbers in
    `content_rows` (CONTENT_COLUMNS) and its bytes in `content_data`. Frames are rows of nine numbers (FRAME_COLUMNS), whose
    chains of names are in `chains`, each once. A description is a mapping, or its JSON text.
    """

    first_event: int = 0
    event_sites: array[int] = field(default_factory=lambda: array("q"))
    event_frames: array[int] = field(default_factory=lambda: array("q"))
    event_values: array[int] = field(default_factory=lambda: array("q"))
    descriptions: tuple[tuple[int, Mapping[str, Any] | str], ...] = ()
    values: array[int] = field(default_factory=lambda: array("q"))
    content_rows: array[int] = field(default_factory=lambda: array("q"))
    content_data: tuple[bytes, ...] = ()
    files: tuple[SourceFile, ...] = ()
    functions: tuple[Function, ...] = ()
    sites: tuple[Site, ...] = ()
    chains: tuple[tuple[int, tuple[str, ...]], ...] = ()
    frames: array[int] = field(default_factory=lambda: array("q"))
    modules: tuple[Module, ...] = ()
    marks: tuple[Mark, ...] = ()
    raised: tuple[Raised, ...] = ()
    notes: tuple[Note, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)


CONTENT_FORMS = ("storage", "dense", "summary")
CONTENT_COLUMNS = ("id", "storage", "form")  # `form` indexes CONTENT_FORMS
PHASES = ("forward", "backward", "recompute")
# `chain` is the id of a chain of names, `phase` indexes PHASES
FRAME_COLUMNS = ("id", "function", "caller", "call_site", "chain", "owner", "phase", "thread", "first_event")
VALUE_COLUMNS = ("id", "description", "object", "storage", "content", "version", "base")
