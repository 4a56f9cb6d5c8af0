"""Line plots as SVG: points on logarithmic or linear axes, a label at the end of each line."""

import dataclasses
import html
import math

WIDTH, HEIGHT = 832, 400
LEFT, RIGHT, TOP, BOTTOM = 72, 250, 44, 48
COLOURS = ["#7ee787", "#79c0ff", "#ffa657", "#d2a8ff", "#ff7b72", "#c9d1d9"]
GREY, TEXT = "#30363d", "#c9d1d9"
LABEL_PX = 16


@dataclasses.dataclass
class Plot:
    title: str
    x: str
    y: str
    logarithmic: bool


PLOTS = {
    "items": Plot("Time to read a listing, 20 ms a page", "items", "seconds", True),
    "delay": Plot("Time to read 100,000 items (63 pages)", "milliseconds a page", "seconds", False),
    "memory": Plot("Memory by items", "items", "MB", True),
}


def file_of(name):
    return f"benchmark-{name}.svg"


class Axis:
    """Maps values to pixels; its ticks are round numbers."""

    def __init__(self, values, first, last, logarithmic):
        self.first, self.last, self.logarithmic = first, last, logarithmic
        if logarithmic:
            low, high = math.log10(min(values)), math.log10(max(values))
            self.low, self.high = low - 0.08 * (high - low or 1), high + 0.08 * (high - low or 1)
        else:
            self.low, self.high = 0, max(values) * 1.05

    def place(self, value):
        at = math.log10(value) if self.logarithmic else value
        return round(self.first + (at - self.low) / (self.high - self.low) * (self.last - self.first), 1)

    def ticks(self):
        if self.logarithmic:
            powers = range(math.floor(self.low), math.ceil(self.high) + 1)
            few = self.high - self.low < 3.2
            all_ticks = [factor * 10**power for power in powers for factor in ((1, 3) if few else (1,))]
            return [tick for tick in all_ticks if self.low <= math.log10(tick) <= self.high]
        step = 10 ** math.floor(math.log10(self.high / 2))
        step *= next(factor for factor in (1, 2, 5) if self.high / (step * factor) <= 7)
        return [step * count for count in range(int(self.high / step) + 1)]


def element(name, text=None, **attributes):
    words = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f"<{name}{words}/>" if text is None else f"<{name}{words}>{html.escape(text, quote=False)}</{name}>"


def grid(plot, x, y):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for tick in x.ticks():
        at = x.place(tick)
        yield element("line", x1=at, x2=at, y1=TOP, y2=bottom, stroke=GREY)
        yield element("text", f"{tick:,g}" if tick < 1e6 else f"{tick:,.0f}", x=at, y=bottom + 18, text_anchor="middle")
    for tick in y.ticks():
        at = y.place(tick)
        yield element("line", x1=LEFT, x2=right, y1=at, y2=at, stroke=GREY)
        yield element("text", f"{tick:,g}", x=LEFT - 8, y=at + 4, text_anchor="end")
    yield element("text", plot.title, x=LEFT, y=TOP - 18, font_weight="bold", font_size=15)
    yield element("text", plot.x, x=(LEFT + right) / 2, y=HEIGHT - 10, text_anchor="middle")
    yield element("text", plot.y, x=LEFT - 8, y=TOP - 18, text_anchor="end")


def label_places(ends):
    """Pixels for labels at ENDS, in order, so that none covers another."""
    order = sorted(range(len(ends)), key=lambda at: ends[at])
    places, last = [0.0] * len(ends), -math.inf
    for at in order:
        last = max(ends[at], last + LABEL_PX)
        places[at] = last
    beyond = max(0.0, last - (HEIGHT - BOTTOM))
    return [round(place - beyond, 1) for place in places]


def lines(series, x, y):
    places = label_places([y.place(points[-1][1]) for points in series.values()])
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{x.place(at)},{y.place(value)}" for at, value in points)
        yield element("polyline", points=path, fill="none", stroke=colour, stroke_width=2)
        for at, value in points:
            yield element("circle", cx=x.place(at), cy=y.place(value), r=3, fill=colour)
        yield element("text", name, x=WIDTH - RIGHT + 10, y=places[number] + 4, fill=colour)


def draw(name, series):
    """SERIES: {name: [[x, y], …]}."""
    plot = PLOTS[name]
    points = [point for each in series.values() for point in each]
    x = Axis([point[0] for point in points], LEFT, WIDTH - RIGHT, plot.logarithmic)
    y = Axis([point[1] for point in points], HEIGHT - BOTTOM, TOP, plot.logarithmic)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">'
    frame = element("rect", width=WIDTH, height=HEIGHT, rx=8, fill="#0d1117")
    group = f'<g font-family="ui-sans-serif, Helvetica, Arial, sans-serif" font-size="12" fill="{TEXT}">'
    parts = [head, element("title", plot.title), frame, group, *grid(plot, x, y), *lines(series, x, y), "</g>", "</svg>"]
    return "\n".join(parts) + "\n"
