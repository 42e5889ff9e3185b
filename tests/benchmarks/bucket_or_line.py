"""The guide's figure of a bucket and a line: `python -m tests.benchmarks.bucket_or_line` measures
it, over 10 Mbit/s with an RTT of 20 ms, and writes docs/images/serialise.svg.
"""

from pathlib import Path

import netlab as nl

FIGURE = Path(__file__).resolve().parents[2] / "docs/images/serialise.svg"
SIZES = 56, 410, 764, 1118, 1472  # bytes of data in a ping
AT_ONCE = 6
PATHS = {"bucket": dict(burst=5000), "line": dict(serialise=True)}
COLOURS = {"bucket": "#d55e00", "line": "#0072b2"}


def measured(**link):
    """RTTs of pings of each size, alone, and of six that are sent at once. [ms]"""
    with nl.Network(nl.wan("10mbit", "20ms", pairs=1, **link)) as net:

        def pings(words):
            return 1e3 * net.run("h1", f"ping {words} 10.0.0.2", echo=False).read().pings.rtt_s

        pings("-c 1")  # ARP
        alone = [pings(f"-c 1 -s {size}").iloc[0] for size in SIZES]
        net.sleep(1)
        together = pings(f"-c {AT_ONCE + 1} -l {AT_ONCE + 1} -s {SIZES[-1]}")
        return alone, together[:AT_ONCE].tolist()


WIDTH, HEIGHT, TOP, BOTTOM, PANEL = 700, 250, 30, 200, 290
LOW_MS, HIGH_MS = 19, 28


def figure(found):
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        "<title>Round-trip times through a bucket and over a line</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *panel(50, "one ping: bytes of data", SIZES, {name: rtt[0] for name, rtt in found.items()}),
        *panel(
            *(390, "six pings of 1472 bytes at once", range(1, AT_ONCE + 1)),
            {name: rtt[1] for name, rtt in found.items()},
        ),
    ]
    for index, (name, colour) in enumerate(COLOURS.items()):
        y = TOP + 16 + 18 * index
        parts.append(f'<circle cx="64" cy="{y - 4}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="74" y="{y}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(left, title, ticks, lines):
    def at(index, rtt_ms):
        x = left + (index + 0.5) * PANEL / len(ticks)
        return x, BOTTOM - (rtt_ms - LOW_MS) * (BOTTOM - TOP) / (HIGH_MS - LOW_MS)

    for rtt_ms in range(LOW_MS + 1, HIGH_MS + 1, 2):
        _, y = at(0, rtt_ms)
        yield f'<path d="M{left} {y:.1f}h{PANEL}" stroke="#dddddd"/>'
        yield f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{rtt_ms}</text>'
    yield f'<text x="{left}" y="{TOP - 12}">RTT [ms]</text>'
    for index, tick in enumerate(ticks):
        x, _ = at(index, LOW_MS)
        yield f'<text x="{x:.1f}" y="{BOTTOM + 16}" text-anchor="middle">{tick}</text>'
    yield f'<text x="{left + PANEL / 2}" y="{BOTTOM + 36}" text-anchor="middle">{title}</text>'
    for name, rtts_ms in lines.items():
        points = [at(index, rtt_ms) for index, rtt_ms in enumerate(rtts_ms)]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline points="{way}" fill="none" stroke="{COLOURS[name]}"/>'
        for x, y in points:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[name]}"/>'


def main():
    found = {name: measured(**link) for name, link in PATHS.items()}
    for name, (alone, together) in found.items():
        print(name, *[f"{rtt_ms:.2f}" for rtt_ms in (*alone, *together)])
    FIGURE.parent.mkdir(exist_ok=True)
    FIGURE.write_text(figure(found), encoding="utf-8")


if __name__ == "__main__":
    main()
