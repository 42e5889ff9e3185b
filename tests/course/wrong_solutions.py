"""Wrong solutions of the problem sets, as students in a hurry write them, and what each should get.

Each is an edit of the solution: by cell, pieces of its source and what stands there instead, or
(as a text) the whole source. `points` are those of the exercises that it spoils, and `hints` a few
words that each answer's hint must have. Both were decided before anything was graded: an answer
of which only the unit is wrong is worth a quarter, one that was rounded a half, another quantity
nothing; and of lists, tables and runs the parts count.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Wrong:
    """One mistake.

    Attributes
    ----------
    name : str
        The set and the mistake.
    belief : str
        What the student thought.
    edits : dict
        By cell, a text or a dict of pieces: old to new.
    points : dict
        By check cell.
    hints : dict of str
        By answer, words of its hint.
    """

    name: str
    belief: str
    edits: dict
    points: dict
    hints: dict


PS1 = [
    Wrong(
        "ps1 no seed",
        "virtual time repeats anyway",
        {"ps1-path": {", seed=my.seed": ""}},
        {"ps1-path-check": 3.8},  # 0.9 of each run; the goodput is near, hence a half
        {"transfer": "seed", "goodput_bps": "transfer"},
    ),
    Wrong(
        "ps1 pipe in bits",
        "rate times delay is the product",
        {"ps1-bdp": {" / 8": ""}},
        {"ps1-bdp-check": 0.75},
        {"bdp_bytes": "bits"},
    ),
    Wrong(
        "ps1 half a round trip",
        "data travel one way only",
        {"ps1-window": {"/ rtt_s": "/ (rtt_s / 2)"}},
        {"ps1-window-check": 0},
        {"window_limit_bps": "two"},
    ),
    Wrong(
        "ps1 ms and Mbit/s",
        "wrote what iperf3 and ping print",
        {
            "ps1-path": {
                "rtt_s = ping.pings.rtt_s.min()": "rtt_s = 1000 * ping.pings.rtt_s.min()",
                "received_bps[0]": "received_bps[0] / 1e6",
            }
        },
        {"ps1-path-check": 2.75},
        {"rtt_s": "prefix", "goodput_bps": "prefix"},
    ),
    Wrong(
        "ps1 first ping, sent bits",
        "a ping is a ping, and a transfer is what was sent",
        {"ps1-path": {"rtt_s.min()": "rtt_s[0]", "received_bps": "sent_bps"}},
        {"ps1-path-check": 2},
        {"rtt_s": "ARP", "goodput_bps": "sent"},
    ),
    Wrong(
        "ps1 typed by hand",
        "copied the printed numbers, with three digits",
        {
            "ps1-path": {
                "received_bps[0]": 'received_bps[0]\ngoodput_bps = float(f"{goodput_bps:.3g}")'
            }
        },
        {"ps1-path-check": 4},
        {"goodput_bps": "round"},
    ),
    Wrong(
        "ps1 units in quotes",
        "an answer has a unit",
        {"ps1-enough": 'enough_bytes = "833000 bytes"'},
        {"ps1-enough-check": 0},
        {"enough_bytes": "number"},
    ),
    Wrong(
        "ps1 whole buffer",
        "the buffer is the window",
        {"ps1-predict": {"0.75 * ": ""}},
        {"ps1-predict-check": 1},  # the link limits the third
        {"predicted_bps": "three quarters"},
    ),
    Wrong(
        "ps1 faster than the link",
        "forgot that the link has a rate",
        {"ps1-predict": {"min(8 * window / delay_s, link_bps)": "8 * window / delay_s"}},
        {"ps1-predict-check": 2},
        {"predicted_bps": "link"},
    ),
    Wrong(
        "ps1 largest first",
        "drew the figure from the right, and turned its axes",
        {"ps1-table": {"(1, 2, 40)": "(40, 2, 1)", "x=table": "y=table", "y=table": "x=table"}},
        {"ps1-table-check": 4 / 3},  # the middle row
        {"table": "order", "fig": "curve"},
    ),
    Wrong(
        "ps1 default buffers",
        "forgot to hand the size on",
        {"ps1-table": {", buffers=size": ""}},
        {"ps1-table-check": 2},  # the sizes
        {"table": "default buffers", "fig": "curve"},
    ),
    Wrong(
        "ps1 matplotlib",
        "draws with what the last course used",
        {"ps1-table": {"def with_buffer": "import matplotlib.pyplot as plt\n\n\ndef with_buffer"}},
        {"ps1-table-check": 0},
        {"table": "matplotlib", "fig": "matplotlib"},
    ),
]

PS2 = [
    Wrong(
        "ps2 rounded down",
        "int() makes a whole number",
        {"ps2-needed": {"math.ceil": "int"}},
        {"ps2-needed-check": 0.6},  # one of five comes out even
        {"streams_needed": "round up"},
    ),
    Wrong(
        "ps2 one more",
        "rounding up is adding one",
        {"ps2-needed": {"math.ceil(": "1 + int("}},
        {"ps2-needed-check": 2.4},
        {"streams_needed": "even"},
    ),
    Wrong(
        "ps2 whole buffer",
        "the buffer is the window",
        {"ps2-own": {"0.75 * ": ""}},
        {"ps2-own-check": 0},
        {"needed": "three quarters"},
    ),
    Wrong(
        "ps2 sent",
        "what was sent has arrived",
        {"ps2-gain": {"received_bps": "sent_bps"}},
        {"ps2-gain-check": 2},
        {"gain": "sent"},
    ),
    Wrong(
        "ps2 turned round",
        "divided one by many",
        {
            "ps2-gain": {
                "many.flows.received_bps[0] / one.flows.received_bps[0]": (
                    "one.flows.received_bps[0] / many.flows.received_bps[0]"
                )
            }
        },
        {"ps2-gain-check": 2},
        {"gain": "other way"},
    ),
    Wrong(
        "ps2 default buffers",
        "took the path of another exercise",
        {"ps2-gain": {", buffers=my.buffer": ""}},
        {"ps2-gain-check": 1.2},
        {"one": "topology", "many": "topology"},
    ),
    Wrong(
        "ps2 jain without n",
        "copied half of the formula",
        {"ps2-jain": {"len(rates) * ": ""}},
        {"ps2-jain-check": 0},
        {"jain": "n is"},
    ),
    Wrong(
        "ps2 index of the flow",
        "took the flow's row for the streams'",
        {"ps2-loss": {"index = nl.jain_index(received)": "index = 1.0"}},
        {"ps2-loss-check": 4},
        {"index": "streams"},
    ),
    Wrong(
        "ps2 share of 1 as per cent",
        "forgot the 100",
        {"ps2-loss": {"100 * received": "received"}},
        {"ps2-loss-check": 3},
        {"fig": "curve"},
    ),
    Wrong(
        "ps2 default algorithm",
        "did not read Reno",
        {"ps2-loss": {', congestion="reno"': ""}},
        {"ps2-loss-check": 0.6},
        {"lossy": "congestion", "index": "run first", "fig": "run first"},
    ),
    Wrong(
        "ps2 no titles",
        "a figure speaks for itself",
        {
            "ps2-loss": {
                'fig.update_xaxes(title="stream")\n': "",
                'fig.update_yaxes(title="share of the sum [%]")': "",
            }
        },
        {"ps2-loss-check": 4.8},  # 0.6 of the figure
        {"fig": "title"},
    ),
    Wrong(
        "ps2 twice",
        "more is more",
        {"ps2-full": {"about the same": "twice"}},
        {"ps2-full-check": 0},
        {"eight_carry": ""},
    ),
]

PS3 = [
    Wrong(
        "ps3 per cent",
        "divided the loss by 100",
        {"ps3-mathis": {"sqrt(loss)": "sqrt(loss / 100)"}},
        {"ps3-mathis-check": 0},
        {"mathis_bps": "fraction"},
    ),
    Wrong(
        "ps3 forgot the streams",
        "thought of one",
        {"ps3-mathis": {"streams * 8": "8"}},
        {"ps3-mathis-check": 1.6},  # two of the five calls have one stream
        {"mathis_bps": "streams"},
    ),
    Wrong(
        "ps3 bytes",
        "MSS is in bytes, so the result is",
        {"ps3-mathis": {"streams * 8 *": "streams *"}},
        {"ps3-mathis-check": 1},
        {"mathis_bps": "bits"},
    ),
    Wrong(
        "ps3 no square",
        "solved for the root",
        {"ps3-target": {" ** 2": ""}},
        {"ps3-target-check": 0},
        {"affordable_loss": "square"},
    ),
    Wrong(
        "ps3 target in per cent",
        "loss rates are per cent",
        {"ps3-target": {"affordable_loss = ": "affordable_loss = 100 * "}},
        {"ps3-target-check": 0.75},
        {"affordable_loss": "per cent"},
    ),
    Wrong(
        "ps3 turned round",
        "formula by measurement",
        {"ps3-single": {"flow.received_bps / formula_bps": "formula_bps / flow.received_bps"}},
        {"ps3-single-check": 3},
        {"ratio": "other way"},
    ),
    Wrong(
        "ps3 the link's loss",
        "the loss is known already",
        {"ps3-single": {"flow.retransmits / segments": "nl.units.fraction(my.loss)"}},
        {"ps3-single-check": 3},
        {"counted_loss": "link"},
    ),
    Wrong(
        "ps3 default algorithm",
        "did not read Reno",
        {"ps3-single": {', congestion="reno"': ""}},
        {"ps3-single-check": 0.6},
        {"single": "congestion", "ratio": "run first"},
    ),
    Wrong(
        "ps3 one of four",
        "forgot that there are four streams",
        {"ps3-constant": {"[4 * 8 *": "[8 *"}},
        {"ps3-constant-check": 2},
        {"constants": "four"},
    ),
    Wrong(
        "ps3 high first",
        "list in the wrong order",
        {"ps3-constant": {"exponent = ": "constants = constants[::-1]\nexponent = "}},
        {"ps3-constant-check": 2},
        {"constants": "order"},
    ),
    Wrong(
        "ps3 minus a half",
        "the law is known",
        {"ps3-constant": {"exponent = ": "exponent = -0.5  # "}},
        {"ps3-constant-check": 3},
        {"exponent": "law"},
    ),
    Wrong(
        "ps3 per cent on the axis",
        "loss rates are per cent, but the title says a fraction",
        {"ps3-figure": {"p = [": "p = [100 * ", ", nl.units": ", 100 * nl.units"}},
        {"ps3-figure-check": 0},
        {"fig": "curve"},
    ),
]

PS4 = [
    Wrong(
        "ps4 the far flow's share",
        "longer is more",
        {"ps4-law": {"(1 / near_rtt_s) /": "(streams / far_rtt_s) /"}},
        {"ps4-law-check": 0},
        {"near_share": "far flow"},
    ),
    Wrong(
        "ps4 forgot the streams",
        "each has one",
        {"ps4-law": {"streams / far": "1 / far"}},
        {"ps4-law-check": 1.6},
        {"near_share": "streams"},
    ),
    Wrong(
        "ps4 the cable alone",
        "h3's RTT is its cable's",
        {"ps4-predict": "predicted = (my.ratio - 1) / my.ratio"},
        {"ps4-predict-check": 0},
        {"predicted": "cable"},
    ),
    Wrong(
        "ps4 one seed",
        "ran the same thing three times",
        {"ps4-measure": {"my.seed + n": "my.seed"}},
        {"ps4-measure-check": 1 + 4 / 3},
        {"shares": "same seed", "mean_share": "first seed"},
    ),
    Wrong(
        "ps4 seeds from 1",
        "counted from one",
        {"ps4-measure": {"my.seed + n": "my.seed + n + 1"}},
        {"ps4-measure-check": 0.9},
        {"first": "seed", "shares": "run first"},
    ),
    Wrong(
        "ps4 per cent",
        "shares are per cent",
        {
            "ps4-measure": {
                "shares = [run": "shares = [100 * run",
                "mean_share = sum(shares) / 3": "mean_share = sum(shares) / 3",
            }
        },
        {"ps4-measure-check": 2.25},
        {"shares": "per cent", "mean_share": "per cent"},
    ),
    Wrong(
        "ps4 sent",
        "what was sent has arrived",
        {"ps4-measure": {"received_bps": "sent_bps"}},
        {"ps4-measure-check": 1},
        {"shares": "sent", "mean_share": "sent"},
    ),
    Wrong(
        "ps4 the near host's price",
        "turned the share round",
        {"ps4-price": {"share / (1 - share)": "(1 - share) / share"}},
        {"ps4-price-check": 0.6},
        {"streams_for": "far host"},
    ),
    Wrong(
        "ps4 streams for the wrong host",
        "put parallel in the first test",
        {
            "ps4-bought": {
                '"h1", "h2", ': '"h1", "h2", parallel=my.ratio, ',
                "parallel=my.ratio, congestion": "congestion",
            }
        },
        {"ps4-bought-check": 0.6},
        {"bought": "traffic"},
    ),
    Wrong(
        "ps4 as the law says",
        "typed one half",
        {"ps4-bought": {"bought_share = ": "bought_share = 0.5  # "}},
        {"ps4-bought-check": 1},
        {"bought_share": "law"},
    ),
    Wrong(
        "ps4 smaller",
        "more buffer helps",
        {"ps4-buffer": {"the same": "smaller"}},
        {"ps4-buffer-check": 0},
        {"more_buffer": ""},
    ),
    Wrong(
        "ps4 twice the cable",
        "forgot the link's own delay",
        {"ps4-third": {'"h5": my.delay': '"h5": f"{2000 * near_rtt_s:g}ms"'}},
        {"ps4-third-check": 2 * 5 / 6},  # all but the round trip of h5
        {"three": "rtt_s from h5"},
    ),
]

PS5 = [
    Wrong(
        "ps5 rows in recovery",
        "counted rows, not beginnings",
        {"ps5-start": {"= len(begins)": '= (rows.state == "recovery").sum()'}},
        {"ps5-start-check": 3},
        {"reductions": "rows"},
    ),
    Wrong(
        "ps5 slow start ends with a loss",
        "is true of Reno",
        {
            "ps5-start": {
                "slow_start_end_s[name] = rows.time_s[rows.ssthresh.notna()].iloc[0]": (
                    "slow_start_end_s[name] = first_loss_s[name]"
                )
            }
        },
        {"ps5-start-check": 3.5},
        {"slow_start_end_s": "first loss"},
    ),
    Wrong(
        "ps5 no units",
        "called the axes by their columns",
        {"ps5-figure": {"time [s]": "time_s", "congestion window [segment]": "cwnd"}},
        {"ps5-figure-check": 1.6},
        {"fig": "unit"},
    ),
    Wrong(
        "ps5 one curve",
        "drew Reno alone",
        {"ps5-figure": {"in runs.items()": "in [*runs.items()][:1]"}},
        {"ps5-figure-check": 1.4},
        {"fig": "1 of 2"},
    ),
    Wrong(
        "ps5 a whole window back",
        "a loss takes everything",
        {"ps5-period": {"window / 2 * rtt_s": "window * rtt_s"}},
        {"ps5-period-check": 2},
        {"reno_period_s": "half"},
    ),
    Wrong(
        "ps5 the curve alone",
        "CUBIC is its cubic",
        {"ps5-period": {"min(curve_s, like_reno_s)": "curve_s"}},
        {"ps5-period-check": 1.5},
        {"cubic_period_s": "curve"},
    ),
    Wrong(
        "ps5 slow start counted",
        "took all rows",
        {"ps5-teeth": {"> 5": "> 0"}},
        {"ps5-teeth-check": 0.75},  # the names
        {"teeth": "slow start"},
    ),
    Wrong(
        "ps5 milliseconds",
        "RTTs are in ms",
        {"ps5-teeth": {"late.srtt_s.mean()": "1000 * late.srtt_s.mean()"}},
        {"ps5-teeth-check": 3 * (3 + 0.25) / 4},  # the unit alone, in one of four columns
        {"teeth": "prefix"},
    ),
    Wrong(
        "ps5 no root",
        "the top is the mean",
        {"ps5-aimd": {") ** 0.5": ")"}},
        {"ps5-aimd-check": 1.4},
        {"ratio": "root"},
    ),
    Wrong(
        "ps5 kept or taken",
        "took keep for what a loss takes",
        {"ps5-aimd": {"(1 + keep)": "(2 - keep)", "(1 - keep)": "keep"}},
        {"ps5-aimd-check": 0.4 + 0.25},
        {"increase_like_reno": "remains"},
    ),
    Wrong(
        "ps5 my in Mine",
        "my.increase is the same number",
        {"ps5-build": {"increase *": "my.increase *", "keep *": "my.keep *"}},
        {"ps5-build-check": 2.5},  # the rule is right, and no kernel can run it
        {"Mine": "my"},
    ),
    Wrong(
        "ps5 grows unused",
        "forgot cwnd_limited",
        {"ps5-build": {"if tcp.cwnd_limited:": "if True:"}},
        {"ps5-build-check": 4},  # one phase of five
        {"Mine": "not full"},
    ),
    Wrong(
        "ps5 Reno first",
        "the order of the traffic does not matter",
        {
            "ps5-race": {
                "congestion=rival": 'congestion="reno"',
                '"h4", congestion="reno"': '"h4", congestion=rival',
            }
        },
        {"ps5-race-check": 1.2},
        {"race": "traffic"},
    ),
    Wrong(
        "ps5 nobody watches",
        "Windows changes nothing",
        {
            "ps5-race": {
                '    nl.Windows("h1", every="10ms"),\n': "",
                '    nl.Windows("h3", every="10ms"),\n': "",
            }
        },
        {"ps5-race-check": 2.2},
        {"race": "traffic"},
    ),
]

PS6 = [
    Wrong(
        "ps6 jain without n",
        "copied half of the formula",
        {"ps6-jain": {"len(throughputs) * ": ""}},
        {"ps6-jain-check": 2},
        {"jain": "flows"},
    ),
    Wrong(
        "ps6 smaller by larger",
        "turned the ratio round",
        {"ps6-jain": {"(1 + (1 - part**2) ** 0.5) / part": "part / (1 + (1 - part**2) ** 0.5)"}},
        {"ps6-jain-check": 2.4},  # of equal flows it is right
        {"larger": "other way"},
    ),
    Wrong(
        "ps6 all ones",
        "it is fair, is it not",
        {"ps6-duels-index": "indices = [1, 1, 1]"},
        {"ps6-duels-check": 0},
        {"indices": "measured"},
    ),
    Wrong(
        "ps6 typed by hand",
        "copied the printed numbers, with three digits",
        {
            "ps6-duels-index": (
                "indices = [round(nl.jain_index(run.flows.received_bps), 3) for run in duels]"
            )
        },
        {"ps6-duels-check": 1.5},
        {"indices": "round"},
    ),
    Wrong(
        "ps6 windows of ten twice",
        "copied a line",
        {"ps6-scale": {"window_s=1)": "window_s=10)"}},
        {"ps6-scale-check": 1},
        {"lowest_1s": "10"},
    ),
    Wrong(
        "ps6 seconds above",
        "counted the good ones",
        {"ps6-scale": {"seconds < 0.98": "seconds >= 0.98"}},
        {"ps6-scale-check": 2},
        {"seconds_below": "not below"},
    ),
    Wrong(
        "ps6 rounded down",
        "int() makes a whole number",
        {
            "ps6-share": {
                "    streams = 1\n    while expected_share(streams, others) < share:\n"
                "        streams += 1\n    return streams": (
                    "    return int(share * others / (1 - share))"
                )
            }
        },
        {"ps6-share-check": 1.2},
        {"streams_for": "round up"},
    ),
    Wrong(
        "ps6 a multiple of the others",
        "three beside one have three",
        {"ps6-share": {"return streams / (streams + others)": "return streams / others"}},
        {"ps6-share-check": 0.4},  # streams_for asks it, and is right where all is even
        {"expected_share": "multiple"},
    ),
    Wrong(
        "ps6 by counting",
        "the share is known",
        {"ps6-contest": {"share = ": "share = my.streams / (my.streams + 1)  # "}},
        {"ps6-contest-check": 2},
        {"share": "counting"},
    ),
    Wrong(
        "ps6 nothing omitted",
        "forgot omit",
        {"ps6-contest": {", omit=5": ""}},
        {"ps6-contest-check": 1.2},
        {"contest": "omit"},
    ),
    Wrong(
        "ps6 BBR first",
        "the order of the traffic does not matter",
        {
            "ps6-bbr": {
                '"h2", congestion="reno"': '"h2", congestion="bbr"',
                '"h4", congestion="bbr"': '"h4", congestion="reno"',
                'columns=["reno", "bbr", "rtt_s"]': 'columns=["bbr", "reno", "rtt_s"]',
            }
        },
        # the names of the queues, half of an RTT that is near, and who has more
        {"ps6-bbr-check": 0.6 + 0.6 + 0.5 + 0.125 + 1},
        {"shallow": "congestion", "fig": "run first"},
    ),
    Wrong(
        "ps6 per cent",
        "shares are per cent, though the title says [1]",
        {"ps6-bbr": {"[[*run.flows": "[[*100 * run.flows"}},
        {"ps6-bbr-check": 4.25},  # the unit alone, in two of four columns
        {"shares": "per cent", "fig": "curve"},
    ),
]

PS7 = [
    Wrong(
        "ps7 one way",
        "a delay is a delay",
        {"ps7-drawing": {"2 * (": "("}},
        {"ps7-drawing-check": 3},
        {"rtt_s": "one way"},
    ),
    Wrong(
        "ps7 mean of the pings",
        "ARP does not matter",
        {"ps7-drawing": {".median()": ".mean()"}},
        {"ps7-drawing-check": 2 + 4 / 3},  # two of the means are the medians
        {"idle_s": "mean"},
    ),
    Wrong(
        "ps7 the queue in bytes",
        "forgot the 8",
        {"ps7-model": {"8 * 1514 * queue": "1514 * queue", "8 * queue_bytes": "queue_bytes"}},
        {"ps7-model-check": 0.4},  # without a queue
        {"longest_rtt_s": "bytes", "busy": "bytes"},
    ),
    Wrong(
        "ps7 more than all",
        "forgot that U is 1 otherwise",
        {"ps7-model": {" if w < 1 else 1.0": ""}},
        {"ps7-model-check": 3.6},
        {"busy": "w < 1"},
    ),
    Wrong(
        "ps7 with headers, all pings",
        "the rate is the rate, and the longest is the longest",
        {
            "ps7-one": {
                "nl.models.goodput_bps(nl.units.rate_bps(my.l3))": "nl.units.rate_bps(my.l3)",
                "rtt_s[loaded.pings.seq >= 10]": "rtt_s",
            }
        },
        {"ps7-one-check": 2},
        {"used": "headers", "longest_s": "slow start"},
    ),
    Wrong(
        "ps7 by all four",
        "there are four flows",
        {"ps7-fair": {"l3 / 3": "l3 / 4", "l2 / 3": "l2 / 4"}},
        {"ps7-fair-check": 2},
        {"split": "four flows"},
    ),
    Wrong(
        "ps7 h2's third",
        "a third of L2 is fair",
        {"ps7-fair": {"l2 - each - call": "l2 / 3"}},
        {"ps7-fair-check": 3.5},  # three of the four are right
        {"max_min": "L2"},
    ),
    Wrong(
        "ps7 all at once",
        "forgot start=1",
        {"ps7-four": {", start=1": ""}},
        {"ps7-four-check": 0.6 + 2 * (1 + 0.125 + 0.25) / 3},  # the call is close
        {"four": "start", "table": "run first"},
    ),
    Wrong(
        "ps7 h2 counted",
        "a part of the sum",
        {"ps7-four": {'.where(four.flows.dst == "h9", 0)': ""}},
        {"ps7-four-check": 1 + 4 / 3},
        {"table": "cross L3"},
    ),
    Wrong(
        "ps7 flows exchanged",
        "read the rows the other way round",
        {"ps7-flood": {"tcp_bps, udp_bps =": "udp_bps, tcp_bps ="}},
        {"ps7-flood-check": 1},
        {"tcp_bps": "other flow", "udp_bps": "other flow"},
    ),
    Wrong(
        "ps7 the call's rate",
        "copied a line",
        {"ps7-flood": {"my.flood": "my.call"}},
        {"ps7-flood-check": 0.6},
        {"flood": "bitrate"},
    ),
    Wrong(
        "ps7 no queue",
        "forgot queue_packets",
        {"ps7-build": {", queue_packets=50": ""}},
        {"ps7-build-check": 4 * 5 / 6},
        {"ring": "queue"},
    ),
    Wrong(
        "ps7 A and C exchanged",
        "drew the triangle from the other side",
        {
            "ps7-build": {
                "my.d1, rate=my.l1": "my.d3, rate=my.l3",
                "my.d3, rate=my.l3": "my.d1, rate=my.l1",
            }
        },
        {"ps7-build-check": 4 / 3},
        {"ring": "rtt_s"},
    ),
]

WRONG = [*PS1, *PS2, *PS3, *PS4, *PS5, *PS6, *PS7]
