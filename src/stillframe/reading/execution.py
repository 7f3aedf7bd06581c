"""Takes a function's statements and the events of one of its calls; gives the statements that ran, and those that may
have.

Must not know what the values were, except the truth of conditions: only where control was, and where it can have gone.

An event proves that its statement was begun. Between two events control went from one statement to another: what lies
between them and tells nothing (`pass`, an import, `self.n += 1`) was begun too, if the way was the plain one; if an
exception may have cut it short, only what certainly follows is said to have run, and what may have is said to be
unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from stillframe.reading.branches import Condition, constant_truth
from stillframe.reading.happened import Happened, Seen
from stillframe.reading.statements import JUMPS, LOOPS, TRIES, WITHS, Block, Body, Span, Statement
from stillframe.reading.successors import Successors, first_of, loop_of


class Execution:
    """What one call did. `certain` were begun, `maybe` may have been; `entered` are blocks of handlers and cases
    entered.
    """

    def __init__(self, body: Body, conditions: dict[Span, Condition], happened: Happened) -> None:
        self.certain: set[Statement] = set(happened.besides)
        self.maybe: set[Statement] = set(body.statements) if happened.cut else set()
        self.entered: set[Block] = set()
        self._body, self._flow = body, Successors(body, conditions)
        if body.root.statements:
            self._follow(happened)

    # ---- from event to event

    def _follow(self, happened: Happened) -> None:
        seen, first = happened.seen, self._body.root.statements[0]
        for one in seen:
            self._begin(one.statement)
            if one.site is not None and one.site.id in self._body.handler_of:
                self._enter(self._body.handler_of[one.site.id])
        if seen and self._is_head(seen[0]):
            self._walk(first, True)
        elif seen:
            self._pass(first, seen[0].statement, seen[0].statement.above)
        for before, after in zip(seen, seen[1:], strict=False):
            self._between(before, after)
        if happened.cut:
            return  # nothing is known of what came after the last event
        if seen:
            self._leave(seen[-1].statement, (), not self._body.is_generator)
        if not happened.returned:
            if seen:
                self._unsure(seen[-1], ())
            else:
                self._walk(first, True)
        elif seen:
            self._to_the_end(seen[-1])
        else:
            self._all_of(self._body.root.statements)

    def _begin(self, statement: Statement) -> None:
        """A statement was begun: so were all before it in its block, and all that it is within."""
        self.certain.add(statement)
        self._all_of(statement.block.statements[: statement.at])
        owner = statement.block.owner
        if owner is None:
            return
        if owner not in self.certain or isinstance(owner.node, TRIES):
            self._begin(owner)
        if isinstance(owner.node, TRIES) and statement.block.part != "body":
            tried = owner.part("body")
            done = statement.block.part == "orelse"
            if tried is not None and tried.statements:
                if done:
                    self._all_of(tried.statements)
                else:
                    self._walk(tried.statements[0], True)

    def _enter(self, block: Block) -> None:
        self.entered.add(block)
        owner = block.owner
        if owner is not None:
            tried = owner.part("body")
            if tried is not None and isinstance(owner.node, TRIES):
                self._walk(first_of(tried), True)

    def _all_of(self, statements: Iterable[Statement]) -> None:
        """Statements that control passed. One that should have told of it, and did not, is not sure."""
        for statement in statements:
            if statement in self.certain:
                continue
            (self.maybe if statement.tells else self.certain).add(statement)
            if isinstance(statement.node, (*TRIES, ast.ClassDef)):
                for block in statement.blocks:
                    if block.head is None:
                        self._all_of(block.statements)
            elif isinstance(statement.node, ast.If | ast.While):
                truth = constant_truth(statement.node.test)
                chosen = statement.part("body" if truth else "orelse")
                if truth is not None and chosen is not None:
                    self._all_of(chosen.statements)

    def _between(self, before: Seen, after: Seen) -> None:
        first, last = before.statement, after.statement
        self._leave(first, (last, *last.above), True)
        if isinstance(first.node, ast.Break | ast.Continue):
            first = loop_of(first)  # which goes round, or has come to its end
            if first in (last, *last.above):
                return
        meeting = _meeting(first, last)
        passed: list[tuple[Block, int]] = []
        inner = first  # becomes what holds `first` in the block where the two ways part, or `meeting` itself
        while meeting is not None and inner.block is not meeting.block and inner is not meeting:
            passed.append((inner.block, inner.at))
            if inner.block.owner is None:
                return
            inner = inner.block.owner
        left = [block for block, _ in passed if block.owner is not meeting]
        in_finally = any(block.part == "finalbody" for block in left)
        if meeting is None or in_finally or (inner is meeting and self._is_cut(after, meeting)):
            self._unsure(before, last.above)
            return
        following = self._flow.after(before)[0]
        swallowing = max((at for at, block in enumerate(left) if _is_with(block.owner)), default=-1)
        if swallowing >= 0:  # in there, only what is sure; behind it, the plain way
            self._unsure(before, last.above)
            swallower = passed[swallowing][0].owner
            following = self._flow.following(swallower)[0] if swallower is not None else None
            passed = passed[swallowing + 1 :]
        elif isinstance(first.node, JUMPS):
            return
        if first is last and not isinstance(first.node, LOOPS):
            self._again(before, after)
            return
        goes_round = inner is not meeting and inner.at > meeting.at  # of a loop whose head tells nothing
        self._pass(following, None if goes_round else last, last.above)
        for block, at in passed:
            self._all_of(block.statements[at + 1 :])
        if inner is not meeting:
            self._all_of(inner.block.statements[inner.at + 1 : None if goes_round else meeting.at])

    def _again(self, before: Seen, after: Seen) -> None:
        """The same statement told again: more of itself, or anew, when a loop whose head tells nothing went round."""
        if before.site is not None and after.site is not None and after.site.id > before.site.id:
            return  # sites are numbered in the order in which they are evaluated
        following, at_its_end = self._flow.after(before)
        if not at_its_end:
            self._walk(following, False)
            return
        self._pass(following, None, before.statement.above)
        statement: Statement | None = before.statement
        while statement is not None and not isinstance(statement.node, LOOPS):
            self._all_of(statement.block.statements[statement.at + 1 :])
            statement = statement.block.owner

    def _leave(self, first: Statement, still_in: Sequence[Statement], certain: bool) -> None:
        """Control left what is around `first`, but for what it is `still_in`: each `finally` on the way was begun."""
        for inner in (first, *first.above):
            owner = inner.block.owner
            finalbody = owner.part("finalbody") if owner is not None else None
            if owner is not None and owner not in still_in and inner.block.part != "finalbody":
                self._walk(first_of(finalbody), certain)

    def _unsure(self, last: Seen, still_in: Sequence[Statement], *, silent: bool = False) -> None:
        """Control went on from `last`, but something may have been raised, and a `with` that was left may have
        swallowed it.
        """
        self._walk(*self._flow.after(last), silent=silent)
        for owner in last.statement.above:
            if _is_with(owner) and owner not in still_in:
                self._walk(self._flow.following(owner)[0], False, silent=silent)

    def _is_head(self, seen: Seen) -> bool:
        """Whether it is the head of a handler or a case."""
        return seen.site is not None and seen.site.id in self._body.handler_of

    def _is_cut(self, after: Seen, meeting: Statement) -> bool:
        """Whether control went from one part of a statement to another by an exception, or may have."""
        if not isinstance(meeting.node, TRIES):
            return False
        if self._is_head(after):
            return True
        part = next((one.block for one in (after.statement, *after.statement.above) if one.block.owner is meeting), None)
        return part is not None and part.part in ("finalbody", "handler")

    def _to_the_end(self, last: Seen) -> None:
        """The call returned after its last event: what was still to come was begun."""
        ended = last.statement
        if isinstance(ended.node, ast.Break | ast.Continue):
            ended = loop_of(ended)
        following = self._flow.after(last)[0]
        swallowers = [owner for owner in ended.above if _is_with(owner)]
        if any(one.block.part == "finalbody" for one in (ended, *ended.above)) or isinstance(ended.node, ast.Return):
            self._unsure(last, (), silent=True)
            return
        if swallowers:  # in there, only what is sure; behind it, the plain way
            self._unsure(last, (), silent=True)
            ended = swallowers[-1]
            following = self._flow.following(ended)[0]
        self._pass(following, None)
        for statement in (ended, *ended.above):
            self._all_of(statement.block.statements[statement.at + 1 :])

    # ---- from a statement on, without events

    def _pass(self, statement: Statement | None, until: Statement | None, still_in: Sequence[Statement] = ()) -> None:
        """Mark what was begun from `statement` on, up to `until`, on a way on which nothing was raised that was seen.

        In a `with` that was left on the way, something may have been raised and swallowed: what follows in there is
        then not sure, but what follows it is.
        """
        shaky: Statement | None = None
        for _ in range(2 * len(self._body.statements) + 2):
            if statement is None or (until is not None and not _comes_before(statement, until)):
                return
            if shaky is not None and shaky not in statement.above:
                shaky = None
            if statement.tells and shaky is None:
                return
            (self.certain if shaky is None else self.maybe).add(statement)
            if statement.tells and shaky is not None:
                statement = self._flow.following(shaky)[0]
                continue
            inside = (one for one in statement.above if _is_with(one) and one not in still_in)
            statement, sure = self._flow.past_silent(statement)
            shaky = shaky if sure or shaky is not None else next(inside, None)

    def _walk(self, statement: Statement | None, certain: bool, *, silent: bool = False) -> None:
        """Mark what is begun from `statement` on, up to the first that should tell of it; `silent`: but not that one."""
        for _ in range(len(self._body.statements) + 1):
            if statement is None or (silent and statement.tells):
                return
            if certain:
                self.certain.add(statement)
            else:
                self.maybe.add(statement)
            statement, sure = self._flow.past_silent(statement)
            certain = certain and sure


def _meeting(first: Statement, last: Statement) -> Statement | None:
    """Where the ways of two statements meet: what holds `last` in a block that holds `first`, or what holds both."""
    within = {first, *first.above}
    blocks = _blocks_of(first)
    return next((one for one in (last, *last.above) if one in within or one.block in blocks), None)


def _comes_before(one: Statement, until: Statement) -> bool:
    """Whether control can be at `one` on the plain way to `until`: it is not `until`, nor behind it, nor in a loop's
    `else` while `until` is in the loop.
    """
    chain = [until, *until.above]
    for place in (one, *one.above):
        other = next((step for step in chain if step.block is place.block), None)
        if other is place and isinstance(place.node, LOOPS) and one is not place:
            return _part_in(one, place) == "body" or _part_in(until, place) == "orelse"
        if other is place:
            return one is not place
        if other is not None:
            return place.at < other.at
    return True


def _part_in(one: Statement, owner: Statement) -> str:
    """In which part of `owner` a statement is; "" if it is `owner` itself."""
    return next((step.block.part for step in (one, *one.above) if step.block.owner is owner), "")


def _blocks_of(statement: Statement) -> list[Block]:
    return [statement.block, *(owner.block for owner in statement.above)]


def _is_with(statement: Statement | None) -> bool:
    return statement is not None and isinstance(statement.node, WITHS)
