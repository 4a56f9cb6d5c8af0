"""Random SELECTs over random tables: for each, what it needs to be answered without a scan is known by its making."""

from . import zoo
from .sql_reference import Columns, quoted, sql_value
from .sql_tables import ATTRIBUTES, BYTES, NUMBERS, PARTS, TEXTS, parts_of

KEYED, SCANS, EITHER = "keyed", "scans", "either"
ABSENT = "never_there"


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, int) and value == -(2**63):
        return "(-9223372036854775807 - 1)"
    return repr(value)


class Source:
    """A table in FROM, as one statement uses it: with MAPPED, the map's; else the account's, or one of its indexes."""

    def __init__(self, table, mapped, environment, prefix, index=None):
        self.table, self.mapped, self.index = table, mapped, index
        self.columns = Columns(table, mapped)
        name = f"{prefix}{table.name}"
        self.name = f"{environment}.{table.name.lower()}" if mapped else quoted(name)
        self.plain_name = f"m_{table.name}" if mapped else f"a_{table.name}"
        self.items = table.items
        if index:
            keys = sum(zoo.hash_and_range(index["KeySchema"]), [])
            self.name = f"{quoted(name)}.{quoted(index['IndexName'])}"
            self.plain_name += f"_{index['IndexName']}"
            self.items = [item for item in self.items if all(key in item for key in keys)]
        self.names = [name for name in self.columns.declared if name != "item"]
        self.hidden = [name for name in [*ATTRIBUTES, *PARTS[:4], ABSENT] if name not in self.columns.declared]
        self.all_names = self.names + self.hidden

    def values(self, name):
        """The values of a column, of all items."""
        return [row[0] for row in (self.columns.row(item, [name]) for item in self.items)]


class Maker:
    """Makes statements. Each is a text with the names of tables, and the same with those of the reference."""

    def __init__(self, rng, sources):
        self.rng, self.sources = rng, sources
        self.pools = {}

    def chance(self, share):
        return self.rng.random() < share

    # Values.

    def value(self, source, name):
        """One that the column has, or almost."""
        known = (source.plain_name, name)
        if known not in self.pools:
            self.pools[known] = [each for each in source.values(name) if each is not None] or ["a"]
        value = self.rng.choice(self.pools[known])
        if self.chance(0.12):
            value = self.rng.choice([None, *TEXTS, "", *map(sql_value, ({"N": each} for each in NUMBERS)), *BYTES])
        if isinstance(value, str) and self.chance(0.15):
            value = self.rng.choice([value[: len(value) // 2], value + "!", value + "#", value.upper(), value + "\U0001f600"])
        if isinstance(value, (int, float)) and self.chance(0.15):
            value = self.rng.choice([str(value), -value if value != -(2**63) else 0, float(value)])
        return value

    def lit(self, source, name):
        return literal(self.value(source, name))

    @staticmethod
    def column(alias, name):
        return f"{alias}.{quoted(name)}"

    # Conditions.

    def pattern(self, source, name):
        text = str(self.value(source, name))
        text = text[: self.rng.randrange(len(text) + 1)] if text else text
        return self.rng.choice([f"{text}%", f"{text}%", f"%{text}", f"{text}_", f"%{text}%", text])

    def test(self, alias, source, name=None):
        """A condition on one column."""
        name = name or self.rng.choice(source.all_names + source.names)
        column, lit = self.column(alias, name), lambda: self.lit(source, name)
        ops = [
            lambda: f"{column} {self.rng.choice(['=', '=', '==', '<>', '!=', '<', '<=', '>', '>=', 'is', 'is not'])} {lit()}",
            lambda: f"{lit()} {self.rng.choice(['=', '<', '<=', '>', '>='])} {column}",
            lambda: f"{column} {self.rng.choice(['', 'not '])}between {lit()} and {lit()}",
            lambda: f"{column} {self.rng.choice(['', '', 'not '])}in ({', '.join(lit() for _ in range(self.rng.randrange(1, 5)))})",
            lambda: f"{column} is {self.rng.choice(['', 'not '])}null",
            lambda: f"{column} {self.rng.choice(['', '', 'not '])}like {literal(self.pattern(source, name))}",
            lambda: f"{column} glob {literal(self.pattern(source, name).replace('%', '*').replace('_', '?').replace('[', '?'))}",
            lambda: f"begins_with({column}, {literal(self.pattern(source, name).strip('%'))})",
            lambda: f"length({column}) > {self.rng.randrange(6)}",
            lambda: f"typeof({column}) {self.rng.choice(['=', '<>'])} '{self.rng.choice(['text', 'integer', 'real', 'null', 'blob'])}'",
            lambda: self.rng.choice([column, f"not {column}", f"{column} is true", f"{column} is not false"]),
            lambda: f"{column} {self.rng.choice(['=', '<', '<>'])} {self.column(alias, self.rng.choice(source.all_names))}",
            lambda: f"coalesce({column}, {lit()}) {self.rng.choice(['=', '<', '>'])} {lit()}",
            lambda: f"{column} || 'x' > {literal(self.rng.choice(TEXTS))}",
            lambda: f"{column} + 1 {self.rng.choice(['>', '<', '='])} {self.rng.randrange(-2, 12)}",
            lambda: f"{alias}.item ->> '$.\"{name}\"' {self.rng.choice(['=', '<', '>', 'is not'])} {lit()}",
            lambda: f"+{column} = {lit()}",
            lambda: f"cast({column} as text) {self.rng.choice(['=', '>'])} {lit()}",
        ]
        return self.rng.choices(ops, [8, 2, 3, 4, 3, 3, 2, 2, 1, 1, 2, 2, 1, 1, 1, 2, 1, 1])[0]()

    def condition(self, alias, source, depth=0):
        if depth < 2 and self.chance(0.45):
            word = self.rng.choice([" and ", " or "])
            parts = [self.condition(alias, source, depth + 1) for _ in range(self.rng.choice([2, 2, 3]))]
            return f"{self.rng.choice(['', '', 'not '])}({word.join(parts)})"
        return self.test(alias, source)

    # The ways to the rows of a table.

    def ways(self, source):
        """Functions (alias, value of a column) -> conditions that find rows without a scan."""
        table, found = source.table, []
        index = source.index
        if index is None:
            found.append((table.keys[:1], table.keys[1:]))
            for kind in table.kinds if source.mapped else []:
                parts = [parts_of(pieces) for pieces in kind.formats]
                used = [name for name in parts[0] if name in source.columns.parts]
                others = [parts_of(other.formats[0]) for other in table.kinds if table.may_have(other, used)]
                if used and len(used) == len(parts[0]) and all(set(other) <= set(used) for other in others):
                    found.append((used, [name for name in (parts[1:] or [[]])[0] if name in source.columns.parts]))
        for each in [index] if index else table.indexes + table.local:
            partition, sort = zoo.hash_and_range(each["KeySchema"])
            if not set(partition + sort) & set(source.columns.parts):  # a part hides the attribute
                found.append((partition, sort))
        return found

    def keyed(self, alias, source, outer=None):
        """Conditions that find the rows; None if there are none. OUTER gives the other side of each equality."""
        partition, sort = self.rng.choice(self.ways(source))
        given = []
        item = self.rng.choice(source.items or source.table.items)
        row = dict(zip(source.all_names, source.columns.row(item, source.all_names)))
        for name in partition:
            column = self.column(alias, name)
            value = row[name] if row[name] is not None and self.chance(0.9) else self.value(source, name)
            if outer:
                given.append(f"{column} = {outer(name)}")
            elif self.chance(0.15):
                given.append(f"{column} in ({', '.join([literal(value)] + [self.lit(source, name) for _ in range(self.rng.randrange(4))])})")
            else:
                given.append(self.rng.choice([f"{column} = {literal(value)}"] * 3 + [f"{literal(value)} = {column}"]))
        is_index = source.index is None and any(name not in source.table.keys for name in partition + sort) \
            and not set(partition) & set(source.columns.parts)
        for name in sort:
            column = self.column(alias, name)
            value = row[name] if row[name] is not None and self.chance(0.8) else self.value(source, name)
            kind = self.rng.random()
            if kind < 0.3:
                given.append(f"{column} = {literal(value)}" if not outer or self.chance(0.5) else f"{column} = {outer(name)}")
                continue
            if kind < 0.55:  # true of that row
                given.append(self.rng.choice([
                    f"{column} {self.rng.choice(['<=', '>='])} {literal(value)}",
                    f"{column} between {literal(value)} and {literal(value)}",
                    f"{column} like {literal(str(value)[: self.rng.randrange(5)] + '%')}",
                    f"begins_with({column}, {literal(str(value)[: self.rng.randrange(5)])})",
                ]))  # fmt: skip
            elif kind < 0.8:
                given.append(self.rng.choice([
                    f"{column} {self.rng.choice(['<', '<=', '>', '>='])} {literal(value)}",
                    f"{column} between {literal(value)} and {self.lit(source, name)}",
                    f"{column} between {self.lit(source, name)} and {literal(value)}",
                    f"{column} like {literal(self.pattern(source, name))}",
                    f"{column} glob {literal(str(value)[:2].replace('[', '?') + '*')}",
                    f"begins_with({column}, {literal(str(value)[: self.rng.randrange(4)])})",
                    f"{column} in ({literal(value)}, {self.lit(source, name)}, {self.lit(source, name)})",
                    f"{column} > {self.lit(source, name)} and {column} <= {literal(value)}",
                ]))  # fmt: skip
            elif is_index:
                given.append(f"{column} is not null")
            break
        if is_index:  # each attribute of an index's key is constrained
            for name in sort:
                if not any(self.column(alias, name) in each for each in given):
                    given.append(f"{self.column(alias, name)} is not null")
        self.rng.shuffle(given)
        return given

    # Statements.

    def expression(self, alias, source):
        name = self.rng.choice(source.all_names + source.names)
        column = self.column(alias, name)
        return self.rng.choice([column] * 6 + [
            f"typeof({column})", f"{alias}.item ->> '$.\"{name}\"'", f"coalesce({column}, 'none')", f"length({column})",
            f"{column} is null", f"json_extract({alias}.item, '$.\"{name}\"')", f"upper({column})", f"{alias}.item -> '$.\"{name}\"'",
            f"case when {self.test(alias, source)} then {column} else 'other' end", f"substr({column}, 1, 3)",
        ])  # fmt: skip

    def where(self, alias, source, keyed=True):
        given = self.keyed(alias, source) if keyed else []
        if self.chance(0.35):
            given.append(f"({self.condition(alias, source)})")
        return " and ".join(given) or "1"

    def tail(self, count):
        """ORDER BY all output columns makes the order total; only then rows are limited."""
        if self.chance(0.5):
            return "", False
        order = list(range(1, count + 1))
        self.rng.shuffle(order)
        words = ", ".join(f"{at}{self.rng.choice(['', ' desc', ' asc', ' nulls last'])}" for at in order)
        limit = self.rng.choice(["", f" limit {self.rng.randrange(6)}", f" limit {self.rng.randrange(1, 9)} offset {self.rng.randrange(4)}"])
        return f" order by {words}{limit}", True

    def select(self, keyed=True):
        source, alias = self.rng.choice(self.sources), "t"
        columns = [self.expression(alias, source) for _ in range(self.rng.randrange(1, 4))]
        tail, ordered = self.tail(len(columns))
        listed = ", ".join(f"{each} as c{at}" for at, each in enumerate(columns))
        distinct = self.rng.choice(["", "", "", "distinct "])
        return f"select {distinct}{listed} from {{{source.plain_name}}} as {alias} where {self.where(alias, source, keyed)}{tail}", ordered

    def by_sort_key(self):
        """In the order of the sort key within one partition, which is total."""
        source, alias = self.rng.choice([each for each in self.sources if not each.index]), "t"
        table = source.table
        item = self.rng.choice(table.items)
        given = [f"{alias}.pk = {literal(sql_value(item['pk']))}"]
        order = table.keys[-1]
        sorts = [parts_of(kind.formats[1]) for kind in table.kinds if source.mapped and len(kind.formats) > 1]
        parts = [each for each in sorts if each and self.chance(0.4)]
        if parts:
            order = f'"{parts[0][0]}" {self.rng.choice(["", "desc"])}, ' + ", ".join(table.keys)
        if self.chance(0.6):
            given.append(self.test(alias, source, table.keys[-1] if self.chance(0.5) else None))
        columns = [f"{self.column(alias, name)} as c{at}" for at, name in enumerate([table.keys[-1], self.rng.choice(source.all_names)])]
        limit = self.rng.choice(["", f" limit {self.rng.randrange(1, 5)}", f" limit 2 offset {self.rng.randrange(3)}"])
        text = f"select {', '.join(columns)} from {{{source.plain_name}}} as {alias} where {' and '.join(given)} order by {order}"
        return f"{text}{self.rng.choice(['', ' desc'])}{limit}", True

    def aggregate(self, keyed=True):
        source, alias = self.rng.choice(self.sources), "t"
        name = lambda: self.column(alias, self.rng.choice(source.all_names))  # noqa: E731
        calls = [self.rng.choice(["count(*)", f"count({name()})", f"count(distinct {name()})", f"min({name()})", f"max({name()})",
                                  f"sum({name()})", f"total({name()})", f"sum({name()} is null)", f"avg(length({name()}))"])
                 for _ in range(self.rng.randrange(1, 4))]  # fmt: skip
        group = [name() for _ in range(self.rng.choice([0, 1, 1, 2]))]
        columns = group + calls
        listed = ", ".join(f"{each} as c{at}" for at, each in enumerate(columns))
        text = f"select {listed} from {{{source.plain_name}}} as {alias} where {self.where(alias, source, keyed)}"
        if group:
            text += " group by " + ", ".join(str(at + 1) for at in range(len(group)))
            text += self.rng.choice(["", "", f" having count(*) > {self.rng.randrange(3)}"])
        return text, False

    def join(self):
        outer, inner = self.rng.choice(self.sources), self.rng.choice(self.sources)
        left = self.rng.choice(["join", "join", "left join", "cross join"])

        def other(name):
            same = [each for each in outer.all_names if each == name]
            pick = same if same and self.chance(0.7) else outer.all_names
            return self.column("a", self.rng.choice(pick))

        given = self.keyed("b", inner, other)
        if self.chance(0.3):
            given.append(self.test("b", inner))
        columns = [self.expression("a", outer), self.expression("b", inner), self.column("b", inner.table.keys[0])]
        listed = ", ".join(f"{each} as c{at}" for at, each in enumerate(columns))
        where = self.where("a", outer)
        tail, ordered = self.tail(len(columns))
        return (f"select {listed} from {{{outer.plain_name}}} as a {left} {{{inner.plain_name}}} as b on {' and '.join(given)} "
                f"where {where}{tail}"), ordered  # fmt: skip

    def nested(self):
        outer, inner = self.rng.choice(self.sources), self.rng.choice(self.sources)
        column = self.column("a", self.rng.choice(outer.all_names))
        picked = self.column("b", self.rng.choice(inner.all_names))
        test = self.rng.choice([
            f"{column} {self.rng.choice(['', 'not '])}in (select {picked} from {{{inner.plain_name}}} as b where {self.where('b', inner)})",
            f"{self.rng.choice(['', 'not '])}exists (select 1 from {{{inner.plain_name}}} as b where {self.where('b', inner)} and {picked} = {column})",
            f"{column} {self.rng.choice(['=', '<', '>'])} (select max({picked}) from {{{inner.plain_name}}} as b where {self.where('b', inner)})",
        ])  # fmt: skip
        text = f"select {self.expression('a', outer)} as c0 from {{{outer.plain_name}}} as a where {self.where('a', outer)} and {test}"
        return text, False

    def keys_of_others(self):
        """The keys come from a subquery."""
        outer, inner = self.rng.choice([each for each in self.sources if not each.index]), self.rng.choice(self.sources)
        picked = self.column("b", self.rng.choice(inner.all_names))
        key = self.column("a", outer.table.keys[0])
        text = (f"select {self.expression('a', outer)} as c0, {key} as c1 from {{{outer.plain_name}}} as a where {key} in "
                f"(select {picked} from {{{inner.plain_name}}} as b where {self.where('b', inner)})")  # fmt: skip
        return text, False

    def correlated(self):
        """A scalar subquery for each row, by its key."""
        outer, inner = self.rng.choice(self.sources), self.rng.choice([each for each in self.sources if not each.index])
        given = self.keyed("b", inner, lambda name: self.column("a", name if name in outer.all_names else self.rng.choice(outer.all_names)))
        call = self.rng.choice(["count(*)", f"max({self.column('b', self.rng.choice(inner.all_names))})"])
        text = (f"select {self.column('a', self.rng.choice(outer.all_names))} as c0, (select {call} from {{{inner.plain_name}}} as b "
                f"where {' and '.join(given)}) as c1 from {{{outer.plain_name}}} as a where {self.where('a', outer)}")  # fmt: skip
        return text, False

    def compound(self):
        source, other = self.rng.choice(self.sources), self.rng.choice(self.sources)
        word = self.rng.choice(["union", "union all", "except", "intersect"])
        sides = [f"select {self.column('t', self.rng.choice(each.all_names))} as c0, {self.expression('t', each)} as c1 "
                 f"from {{{each.plain_name}}} as t where {self.where('t', each)}" for each in (source, other)]  # fmt: skip
        return f"{sides[0]} {word} {sides[1]}", False

    def common(self):
        """A common table expression, used once or twice."""
        source = self.rng.choice(self.sources)
        names = self.rng.sample(source.all_names, min(2, len(source.all_names)))
        listed = ", ".join(f"{self.column('t', name)} as k{at}" for at, name in enumerate(names))
        head = f"with w as (select {listed} from {{{source.plain_name}}} as t where {self.where('t', source)})"
        if self.chance(0.5):
            return f"{head} select k0 as c0, count(*) as c1 from w group by k0", False
        return f"{head} select x.k0 as c0, y.k0 as c1 from w as x, w as y where x.k0 = y.k0", False

    def each_of_json(self):
        source = self.rng.choice(self.sources)
        text = f"select e.key as c0, e.value as c1 from {{{source.plain_name}}} as t, json_each(t.item) as e where {self.where('t', source)}"
        return text, False

    def either_way(self):
        """Keys in the branches of OR."""
        source = self.rng.choice([each for each in self.sources if not each.index])
        sides = [" and ".join(self.keyed("t", source)) for _ in range(2)]
        listed = f"{self.column('t', source.table.keys[0])} as c0, {self.expression('t', source)} as c1"
        return f"select {listed} from {{{source.plain_name}}} as t where ({sides[0]}) or ({sides[1]})", False

    def unkeyed(self):
        source = self.rng.choice(self.sources)
        listed = f"{self.column('t', self.rng.choice(source.all_names))} as c0, {self.expression('t', source)} as c1"
        where = self.rng.choice(["", f" where {self.column('t', source.hidden[0])} = {self.lit(source, source.hidden[0])}"])
        return f"select {listed} from {{{source.plain_name}}} as t{where}", False

    def guess(self):
        """A WHERE of anything: whether that needs a scan is not known."""
        source = self.rng.choice(self.sources)
        text = f"select {self.expression('t', source)} as c0, {self.column('t', source.table.keys[0])} as c1 from {{{source.plain_name}}} as t"
        return f"{text} where {self.condition('t', source)} and {self.condition('t', source)}", False

    def statement(self):
        """(text with {names}, whether rows are in a total order, KEYED, SCANS or EITHER)."""
        makers = [
            (16, self.select, KEYED), (10, self.by_sort_key, KEYED), (10, self.aggregate, KEYED), (14, self.join, KEYED),
            (6, self.nested, KEYED), (5, self.keys_of_others, KEYED), (5, self.correlated, KEYED), (5, self.compound, KEYED),
            (5, self.common, KEYED), (3, self.each_of_json, KEYED), (5, self.either_way, EITHER), (4, self.unkeyed, SCANS),
            (4, lambda: self.select(False), EITHER), (3, lambda: self.aggregate(False), EITHER), (5, self.guess, EITHER),
        ]  # fmt: skip
        _, maker, needs = self.rng.choices(makers, [weight for weight, *_ in makers])[0]
        text, ordered = maker()
        return text, ordered, needs
