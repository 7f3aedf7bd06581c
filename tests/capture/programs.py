"""Makes functions up: random syntax trees over a good part of the grammar, unparsed, and laid out anew over several lines.

Every operand tells what is done to it (see `spies`), so that any function that compiles is a test.
"""

from __future__ import annotations

import io
import random
import tokenize

from hypothesis import strategies as st

NAMES = ["a", "b", "c", "x", "y", "z"]


class Writer:
    """Writes one function from a stream of choices."""

    def __init__(self, choose: random.Random) -> None:
        self.choose = choose
        self.loops = 0
        self.generates = False

    # ---- expressions

    def expression(self, depth: int) -> str:
        """Any expression, in parentheses where it needs them."""
        if depth <= 0 or self.choose.random() < 0.2:
            return self.choose.choice([*NAMES, *NAMES, "0", "1", "None", "'s'", "True", "g"])
        kinds = [
            *(self._binary, self._call, self._call, self._method, self._attribute, self._subscript, self._slice, self._unary),
            *(self._boolean, self._ternary, self._compare, self._chained, self._display, self._comprehension, self._lambda),
            *(self._walrus, self._text, self._chain),
        ]
        if self.generates:
            kinds += [self._yield]
        return self.choose.choice(kinds)(depth - 1)

    def _of(self, depth: int, at_least: int = 0, at_most: int = 3) -> list[str]:
        return [self.expression(depth) for _ in range(self.choose.randint(at_least, at_most))]

    def _binary(self, depth: int) -> str:
        operator = self.choose.choice(["+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"])
        return f"({self.expression(depth)} {operator} {self.expression(depth)})"

    def _unary(self, depth: int) -> str:
        return f"({self.choose.choice(['-', '+', '~', 'not '])}{self.expression(depth)})"

    def _arguments(self, depth: int) -> str:
        given = self._of(depth, 0, 2)
        if self.choose.random() < 0.2:
            given.append(f"*{self.expression(depth)}")
        given += [f"{name}={self.expression(depth)}" for name in self.choose.sample(["p", "q"], self.choose.randint(0, 1))]
        if self.choose.random() < 0.1:
            given.append(f"**{self.expression(depth)}")
        return ", ".join(given)

    def _call(self, depth: int) -> str:
        return f"{self.choose.choice([*NAMES, 'g', 'repr', 'len'])}({self._arguments(depth)})"

    def _method(self, depth: int) -> str:
        return f"{self._operand(depth)}.m({self._arguments(depth)})"

    def _operand(self, depth: int) -> str:
        return self.choose.choice([*NAMES, f"({self.expression(depth)})"])

    def _attribute(self, depth: int) -> str:
        return f"{self._operand(depth)}.{self.choose.choice(['k', 'shape'])}"

    def _subscript(self, depth: int) -> str:
        return f"{self._operand(depth)}[{self.expression(depth)}]"

    def _slice(self, depth: int) -> str:
        parts = [self.expression(0) if self.choose.random() < 0.5 else "" for _ in range(2)]
        return f"{self._operand(depth)}[{':'.join(parts)}, {self.expression(depth)}]"

    def _chain(self, depth: int) -> str:
        return f"{self._operand(depth)}.m({self._arguments(depth)}).n({self._arguments(depth)}).k"

    def _boolean(self, depth: int) -> str:
        word = self.choose.choice([" and ", " or "])
        return f"({word.join(self._of(depth, 2))})"

    def _ternary(self, depth: int) -> str:
        """Not with a comprehension in its first arm.

        Python 3.12 on stores the ternary's value before it lets go of the comprehension's variables if few instructions
        follow to the function's end. Woven, more follow, so that the two die in the other order.
        """
        arm = self.expression(depth)
        while " for " in arm:
            arm = self.expression(depth)
        return f"({arm} if {self.expression(depth)} else {self.expression(depth)})"

    def _compare(self, depth: int) -> str:
        operator = self.choose.choice(["==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"])
        return f"({self._operand(depth)} {operator} {self._operand(depth)})"

    def _chained(self, depth: int) -> str:
        return f"({self._operand(depth)} < {self._operand(depth)} == {self._operand(depth)})"

    def _display(self, depth: int) -> str:
        kind = self.choose.randrange(4)
        parts = self._of(depth, 1)
        if kind == 0:
            return f"[{', '.join([*parts, '*' + self.expression(depth)])}]"
        if kind == 1:
            return f"({', '.join(parts)},)"
        if kind == 2:
            return f"{{{', '.join(f'{index}: {part}' for index, part in enumerate(parts))}}}"
        return f"{{{', '.join(f'n({part})' for part in parts)}}}"

    def _comprehension(self, depth: int) -> str:
        name, other = self.choose.sample(["i", "j", "x"], 2)
        generates, self.generates = self.generates, False
        element = self.choose.choice([name, f"({name}, {self.expression(depth)})", f"{name}.k"])
        condition = f" if {self.expression(depth)}" if self.choose.random() < 0.4 else ""
        second = f" for {other} in {self._operand(depth)}" if self.choose.random() < 0.3 else ""
        begin, end = self.choose.choice(["[]", "()", "{}"])
        body = f"n({element})" if begin == "{" else element
        if begin == "{" and self.choose.random() < 0.5:
            body = f"{body}: {name}"
        whole = f"{begin}{body} for {name} in {self.choose.choice(NAMES)}{condition}{second}{end}"
        self.generates = generates
        whole = whole.replace(":=", "==")  # not allowed where it would bind what is iterated
        return f"list({whole})" if begin == "(" and self.choose.random() < 0.7 else whole

    def _lambda(self, depth: int) -> str:
        generates, self.generates = self.generates, False
        made = f"(lambda v, w={self.choose.choice(NAMES)}: {self.expression(depth)})"
        self.generates = generates
        return f"{made}({self.choose.choice(NAMES)})" if self.choose.random() < 0.7 else made

    def _walrus(self, depth: int) -> str:
        return f"({self.choose.choice(['x', 'y', 'z'])} := {self.expression(depth)})"

    def _text(self, depth: int) -> str:
        inner = self.choose.choice(NAMES)
        return self.choose.choice([f"f'{{{inner}}}-{{{inner}.k!r}}'", f"f'{{{inner}:>{{a}}}}'", f"('%s' % ({inner},))"])

    def _yield(self, depth: int) -> str:
        return self.choose.choice([f"(yield {self.expression(depth)})", "(yield)", f"(yield from {self._operand(depth)})"])

    # ---- statements

    def body(self, depth: int, count: int | None = None) -> list[str]:
        """The lines of a block."""
        lines: list[str] = []
        for _ in range(count or self.choose.randint(1, 3)):
            lines += self.statement(depth)
        return lines

    def _block(self, head: str, depth: int) -> list[str]:
        return [head, *("    " + line for line in self.body(depth - 1))]

    def target(self) -> str:
        """What is assigned to."""
        name = self.choose.choice(["x", "y", "z"])
        other = self.choose.choice(["x", "y", "z"])
        return self.choose.choice(
            [
                name,
                name,
                name,
                f"{name}.k",
                f"{name}[{self.expression(1)}]",
                f"a[{other}:]",
                f"{name}, {other}",
                f"a.k[{other}]",
            ]
            + [f"{name}, *{other}", f"({name}, a.k), {other}"]
        )

    def statement(self, depth: int) -> list[str]:
        """The lines of a statement."""
        simple = [self._assign, self._assign, self._assign, self._augment, self._evaluate, self._exchange, self._leave]
        compound = [self._if, self._if, self._for, self._while, self._try, self._with, self._def, self._match]
        return self.choose.choice(simple + (compound if depth > 0 else []))(depth)

    def _assign(self, depth: int) -> list[str]:
        if self.choose.random() < 0.1:
            return [f"x: int = {self.expression(3)}"]
        return [f"{' = '.join(self.target() for _ in range(self.choose.choice([1, 1, 1, 2])))} = {self.expression(3)}"]

    def _exchange(self, depth: int) -> list[str]:
        names = self.choose.sample(["x", "y", "z", "a"], self.choose.choice([2, 2, 3]))
        return [f"{', '.join(names)} = {', '.join(self.expression(2) for _ in names)}"]

    def _augment(self, depth: int) -> list[str]:
        target = self.choose.choice(["x", "y.k", "z[0]", f"a[{self.expression(1)}]"])
        return [f"{target} {self.choose.choice(['+=', '*=', '@=', '|='])} {self.expression(2)}"]

    def _evaluate(self, depth: int) -> list[str]:
        return [self.expression(3)]

    def _leave(self, depth: int) -> list[str]:
        ways = [
            "pass",
            f"assert {self.expression(2)}, {self.expression(1)}",
            "del x",
            "del y.k",
            f"del z[{self.expression(1)}]",
        ]
        if self.choose.random() < 0.4:
            ways += [
                f"return {self.expression(2)}",
                "return",
                f"raise g({self.expression(1)}) from {self.expression(1)}",
                "raise",
            ]
        if self.loops:
            ways += ["break", "continue"]
        return [self.choose.choice(ways)]

    def _if(self, depth: int) -> list[str]:
        lines = self._block(f"if {self.expression(3)}:", depth)
        if self.choose.random() < 0.4:
            lines += self._block(f"elif {self.expression(2)}:", depth)
        if self.choose.random() < 0.5:
            lines += self._block("else:", depth)
        return lines

    def _loop(self, head: str, depth: int) -> list[str]:
        self.loops += 1
        lines = self._block(head, depth)
        self.loops -= 1
        return lines + (self._block("else:", depth) if self.choose.random() < 0.3 else [])

    def _for(self, depth: int) -> list[str]:
        return self._loop(f"for {self.target()} in {self.expression(2)}:", depth)

    def _while(self, depth: int) -> list[str]:
        return self._loop(f"while {self.expression(2)} and t.truth():", depth)

    def _try(self, depth: int) -> list[str]:
        lines = self._block("try:", depth)
        if self.choose.random() < 0.8:
            kind = self.choose.choice(["Exception", "(Boom, TypeError)", "AttributeError"])
            lines += self._block(f"except {kind}{self.choose.choice(['', ' as z'])}:", depth)
            if self.choose.random() < 0.3:
                lines += self._block("else:", depth)
            if self.choose.random() < 0.4:
                return lines
        loops, self.loops = self.loops, 0  # leaving a `finally` is warned of
        lines += ["finally:", "    " + self._evaluate(0)[0]]
        self.loops = loops
        return lines

    def _with(self, depth: int) -> list[str]:
        items = [
            f"{self.expression(2)}{self.choose.choice(['', ' as x', ' as (y, z)'])}" for _ in range(self.choose.choice([1, 2]))
        ]
        return self._block(f"with {', '.join(items)}:", depth)

    def _def(self, depth: int) -> list[str]:
        loops, generates = self.loops, self.generates
        self.loops, self.generates = 0, False
        lines = self._block(f"def h(v, w={self.expression(1)}):", depth)
        self.loops, self.generates = loops, generates
        return [*lines, f"x = h({self.expression(1)})"]

    def _match(self, depth: int) -> list[str]:
        lines = [f"match {self.expression(2)}:"]
        for pattern in ["[x, *_]", "0 | 1", "{'k': y}", "z"][self.choose.randint(0, 3) :]:
            guard = f" if {self.expression(1)}" if self.choose.random() < 0.4 or pattern == "z" else ""
            lines += ["    " + line for line in self._block(f"case {pattern}{guard}:", depth)]
        return lines

    def function(self) -> str:
        """The whole function."""
        self.generates = self.choose.random() < 0.25
        lines = ["x = y = a", "z = b", *self.body(2, 4), f"return {self.expression(2)}"]
        if self.generates:
            lines.insert(0, "yield")
        return "\n".join(["def f(a, b, c, t):", *("    " + line for line in lines)]) + "\n"


def laid_out(source: str, choose: random.Random, wildly: bool) -> str:
    """The same program with line breaks and remarks in brackets: where people put them, or `wildly` between any two tokens."""
    depth = 0
    out: list[str] = []
    end = (1, 0)
    lines = source.split("\n")
    in_text = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        name = tokenize.tok_name[token.type]
        row, column = token.start
        if token.type != tokenize.ENDMARKER:
            if row == end[0]:
                out.append(lines[row - 1][end[1] : column])
            else:
                out.append(lines[row - 1][:column])
        in_text += {"FSTRING_START": 1, "FSTRING_END": -1}.get(name, 0)
        if token.string in ("(", "[", "{"):
            depth += 1
        elif token.string in (")", "]", "}"):
            depth -= 1
        out.append(token.string)
        place = wildly or token.string in ("(", "[", "{", ",")
        if depth > 0 and place and not in_text and name != "FSTRING_END" and choose.random() < 0.25:
            out.append(choose.choice(["\n", "\n    ", "\n        ", "  # so\n  "]))
        end = token.end
    return "".join(out)


@st.composite
def functions(draw: st.DrawFn, wildly: bool) -> str:
    """The text of a function `f(a, b, c, t)`; more than half are laid out anew."""
    choose = random.Random(draw(st.integers(0, 2**40)))
    source = Writer(choose).function()
    return laid_out(source, choose, wildly) if choose.random() < 0.6 else source
