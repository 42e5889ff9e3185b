"""Two made-up traces for `netlab.Change.trace`: trace_satellite.csv and trace_train.csv.

Nobody has measured them. They have what such paths are known for, and numbers that a seed draws:

- satellite: every 15 s the dish is given another satellite, and with it another rate and delay.
  Only the 15 s are those of a real network (Starlink's);
- train: each second another rate, as cells come nearer and go; from second 25 on five seconds of
  tunnel, with 1 Mbit/s and 5 % loss.

    python traces.py      # writes both files, next to this one
"""

import math
import random
from pathlib import Path

REMARK = "# made up by traces.py: nobody has measured this"


def satellite():
    draw = random.Random(4)
    yield "time_s,rate_bps,delay_s"
    for time_s in range(0, 120, 15):
        rate_bps = 1_000_000 * draw.randint(20, 80)
        yield f"{time_s},{rate_bps},{draw.randint(20, 80) / 1000:.3f}"


def train():
    draw, mbps = random.Random(1), 15.0
    yield "time_s,rate_bps,loss_rate"
    for time_s in range(60):
        cell = 15 + 12 * math.cos(2 * math.pi * time_s / 20)  # a cell every 20 s
        mbps += 0.4 * (cell - mbps) + draw.uniform(-3, 3)
        in_tunnel = 25 <= time_s < 30
        rate_bps = 1_000_000 if in_tunnel else 100_000 * max(20, round(10 * mbps))
        yield f"{time_s},{rate_bps},{0.05 if in_tunnel else 0}"


TRACES = {"trace_satellite.csv": satellite, "trace_train.csv": train}

if __name__ == "__main__":
    for name, rows in TRACES.items():
        Path(__file__).with_name(name).write_text(
            "\n".join([REMARK, *rows()]) + "\n", encoding="utf-8"
        )
