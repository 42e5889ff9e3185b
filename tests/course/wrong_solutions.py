"""Wrong solutions of the problem sets, as students in a hurry write them, and what each should get.

Each is an edit of one cell of the solution: pieces of its source and what stands there instead, or
(as a text) the whole source. `points` are those of the exercise that it spoils, and `hints`, by
answer, a few words that its hint must have. Both were decided before anything was graded: an answer
of which only the unit is wrong is worth a quarter, one that was rounded a half, another quantity
nothing; and of lists, tables and runs the parts count.
"""


class Wrong:
    """A mistake; `name` is the cell that is edited, and what is wrong."""

    def __init__(self, name, edit, points, **hints):
        self.name, (self.cell, _, _) = name, name.partition(":")
        self.exercise = "-".join([*self.cell.split("-")[:2], "check"])
        self.edit, self.points, self.hints = edit, points, hints


WRONG = [
    # 0.9 of each run; the goodput is near, hence a half
    Wrong(
        "ps1-path: no seed", {", seed=my.seed": ""}, 3.8, transfer="seed", goodput_bps="transfer"
    ),
    Wrong("ps1-bdp: pipe in bits", {" / 8": ""}, 0.75, bdp_bytes="bits"),
    Wrong("ps1-window: half a round trip", {"/ rtt_s": "/ (rtt_s / 2)"}, 0, window_limit_bps="two"),
    Wrong(
        "ps1-path: ms and Mbit/s",
        {
            "rtt_s = ping.pings.rtt_s.min()": "rtt_s = 1000 * ping.pings.rtt_s.min()",
            "received_bps[0]": "received_bps[0] / 1e6",
        },
        2.75,
        rtt_s="prefix",
        goodput_bps="prefix",
    ),
    Wrong(
        "ps1-path: first ping, sent bits",
        {"rtt_s.min()": "rtt_s[0]", "received_bps": "sent_bps"},
        2,
        rtt_s="ARP",
        goodput_bps="sent",
    ),
    Wrong(
        "ps1-path: typed by hand",
        {"received_bps[0]": 'received_bps[0]\ngoodput_bps = float(f"{goodput_bps:.3g}")'},
        4,
        goodput_bps="round",
    ),
    Wrong("ps1-enough: units in quotes", 'enough_bytes = "833000 bytes"', 0, enough_bytes="number"),
    # the link limits the third
    Wrong("ps1-predict: whole buffer", {"0.75 * ": ""}, 1, predicted_bps="three quarters"),
    Wrong(
        "ps1-predict: faster than the link",
        {"min(8 * window / delay_s, link_bps)": "8 * window / delay_s"},
        2,
        predicted_bps="link",
    ),
    # the middle row
    Wrong(
        "ps1-table: largest first",
        {"(1, 2, 40)": "(40, 2, 1)", "x=table": "y=table", "y=table": "x=table"},
        4 / 3,
        table="order",
        fig="curve",
    ),
    # the sizes
    Wrong(
        "ps1-table: default buffers",
        {", buffers=size": ""},
        2,
        table="default buffers",
        fig="curve",
    ),
    Wrong(
        "ps1-table: matplotlib",
        {"def with_buffer": "import matplotlib.pyplot as plt\n\n\ndef with_buffer"},
        0,
        table="matplotlib",
        fig="matplotlib",
    ),
    # one of five comes out even
    Wrong("ps2-needed: rounded down", {"math.ceil": "int"}, 0.6, streams_needed="round up"),
    Wrong("ps2-needed: one more", {"math.ceil(": "1 + int("}, 2.4, streams_needed="even"),
    Wrong("ps2-own: whole buffer", {"0.75 * ": ""}, 0, needed="three quarters"),
    Wrong("ps2-gain: sent", {"received_bps": "sent_bps"}, 2, gain="sent"),
    Wrong(
        "ps2-gain: turned round",
        {"many.flows": "one.flows", "one.flows": "many.flows"},
        2,
        gain="other way",
    ),
    Wrong(
        "ps2-gain: default buffers",
        {", buffers=my.buffer": ""},
        1.2,
        one="topology",
        many="topology",
    ),
    Wrong("ps2-jain: jain without n", {"len(rates) * ": ""}, 0, jain="n is"),
    Wrong(
        "ps2-loss: index of the flow",
        {"index = nl.jain_index(received)": "index = 1.0"},
        4,
        index="streams",
    ),
    Wrong("ps2-loss: share of 1 as per cent", {"100 * received": "received"}, 3, fig="curve"),
    Wrong(
        "ps2-loss: default algorithm",
        {', congestion="reno"': ""},
        0.6,
        lossy="congestion",
        index="run first",
        fig="run first",
    ),
    # 0.6 of the figure
    Wrong(
        "ps2-loss: no titles",
        {
            'fig.update_xaxes(title="stream")\n': "",
            'fig.update_yaxes(title="share of the sum [%]")': "",
        },
        4.8,
        fig="title",
    ),
    Wrong("ps2-full: twice", {"about the same": "twice"}, 0, eight_carry=""),
    Wrong("ps3-mathis: per cent", {"sqrt(loss)": "sqrt(loss / 100)"}, 0, mathis_bps="fraction"),
    # two of the five calls have one stream
    Wrong("ps3-mathis: forgot the streams", {"streams * 8": "8"}, 1.6, mathis_bps="streams"),
    Wrong("ps3-mathis: bytes", {"streams * 8 *": "streams *"}, 1, mathis_bps="bits"),
    Wrong("ps3-target: no square", {" ** 2": ""}, 0, affordable_loss="square"),
    Wrong(
        "ps3-target: target in per cent",
        {"affordable_loss = ": "affordable_loss = 100 * "},
        0.75,
        affordable_loss="per cent",
    ),
    Wrong(
        "ps3-single: turned round",
        {"flow.received_bps / formula_bps": "formula_bps / flow.received_bps"},
        3,
        ratio="other way",
    ),
    Wrong(
        "ps3-single: the link's loss",
        {"flow.retransmits / segments": "nl.units.fraction(my.loss)"},
        3,
        counted_loss="link",
    ),
    Wrong(
        "ps3-single: default algorithm",
        {', congestion="reno"': ""},
        0.6,
        single="congestion",
        ratio="run first",
    ),
    Wrong("ps3-constant: one of four", {"[4 * 8 *": "[8 *"}, 2, constants="four"),
    Wrong(
        "ps3-constant: high first",
        {"exponent = ": "constants = constants[::-1]\nexponent = "},
        2,
        constants="order",
    ),
    Wrong("ps3-constant: minus a half", {"exponent = ": "exponent = -0.5  # "}, 3, exponent="law"),
    Wrong(
        "ps3-figure: per cent on the axis",
        {"p = [": "p = [100 * ", ", nl.units": ", 100 * nl.units"},
        0,
        fig="curve",
    ),
    Wrong(
        "ps4-law: the far flow's share",
        {"(1 / near_rtt_s) /": "(streams / far_rtt_s) /"},
        0,
        near_share="far flow",
    ),
    Wrong("ps4-law: forgot the streams", {"streams / far": "1 / far"}, 1.6, near_share="streams"),
    Wrong(
        "ps4-predict: the cable alone",
        "predicted = (my.ratio - 1) / my.ratio",
        0,
        predicted="cable",
    ),
    Wrong(
        "ps4-measure: one seed",
        {"my.seed + n": "my.seed"},
        1 + 4 / 3,
        shares="same seed",
        mean_share="first seed",
    ),
    Wrong(
        "ps4-measure: seeds from 1",
        {"my.seed + n": "my.seed + n + 1"},
        0.9,
        first="seed",
        shares="run first",
    ),
    Wrong(
        "ps4-measure: per cent",
        {
            "shares = [run": "shares = [100 * run",
            "mean_share = sum(shares) / 3": "mean_share = sum(shares) / 3",
        },
        2.25,
        shares="per cent",
        mean_share="per cent",
    ),
    Wrong("ps4-measure: sent", {"received_bps": "sent_bps"}, 1, shares="sent", mean_share="sent"),
    Wrong(
        "ps4-price: the near host's price",
        {"share / (1 - share)": "(1 - share) / share"},
        0.6,
        streams_for="far host",
    ),
    Wrong(
        "ps4-bought: streams for the wrong host",
        {
            '"h1", "h2", ': '"h1", "h2", parallel=my.ratio, ',
            "parallel=my.ratio, congestion": "congestion",
        },
        0.6,
        bought="traffic",
    ),
    Wrong(
        "ps4-bought: as the law says",
        {"bought_share = ": "bought_share = 0.5  # "},
        1,
        bought_share="law",
    ),
    Wrong("ps4-buffer: smaller", {"the same": "smaller"}, 0, more_buffer=""),
    # all but the round trip of h5
    Wrong(
        "ps4-third: twice the cable",
        {'"h5": my.delay': '"h5": f"{2000 * near_rtt_s:g}ms"'},
        2 * 5 / 6,
        three="rtt_s from h5",
    ),
    Wrong(
        "ps5-start: rows in recovery",
        {"= len(begins)": '= (rows.state == "recovery").sum()'},
        3,
        reductions="rows",
    ),
    Wrong(
        "ps5-start: slow start ends with a loss",
        {"rows.time_s[rows.ssthresh.notna()].iloc[0]": "first_loss_s[name]"},
        3.5,
        slow_start_end_s="first loss",
    ),
    Wrong(
        "ps5-figure: no units",
        {"time [s]": "time_s", "congestion window [segment]": "cwnd"},
        1.6,
        fig="unit",
    ),
    Wrong(
        "ps5-figure: one curve", {"in runs.items()": "in [*runs.items()][:1]"}, 1.4, fig="1 of 2"
    ),
    Wrong(
        "ps5-period: a whole window back",
        {"window / 2 * rtt_s": "window * rtt_s"},
        2,
        reno_period_s="half",
    ),
    Wrong(
        "ps5-period: the curve alone",
        {"min(curve_s, like_reno_s)": "curve_s"},
        1.5,
        cubic_period_s="curve",
    ),
    # the names
    Wrong("ps5-teeth: slow start counted", {"> 5": "> 0"}, 0.75, teeth="slow start"),
    # the unit alone, in one of four columns
    Wrong(
        "ps5-teeth: milliseconds",
        {"late.srtt_s.mean()": "1000 * late.srtt_s.mean()"},
        3 * (3 + 0.25) / 4,
        teeth="prefix",
    ),
    Wrong("ps5-aimd: no root", {") ** 0.5": ")"}, 1.4, ratio="root"),
    Wrong(
        "ps5-aimd: kept or taken",
        {"(1 + keep)": "(2 - keep)", "(1 - keep)": "keep"},
        0.4 + 0.25,
        increase_like_reno="remains",
    ),
    # the rule is right, and no kernel can run it
    Wrong(
        "ps5-build: my in Mine",
        {"increase *": "my.increase *", "keep *": "my.keep *"},
        2.5,
        Mine="my",
    ),
    # one phase of five
    Wrong("ps5-build: grows unused", {"if tcp.cwnd_limited:": "if True:"}, 4, Mine="not full"),
    Wrong(
        "ps5-race: Reno first",
        {
            "congestion=rival": 'congestion="reno"',
            '"h4", congestion="reno"': '"h4", congestion=rival',
        },
        1.2,
        race="traffic",
    ),
    Wrong(
        "ps5-race: nobody watches",
        {'    nl.Windows("h1", every="10ms"),\n': "", '    nl.Windows("h3", every="10ms"),\n': ""},
        2.2,
        race="traffic",
    ),
    Wrong("ps6-jain: jain without n", {"len(throughputs) * ": ""}, 2, jain="flows"),
    # of equal flows it is right
    Wrong(
        "ps6-jain: smaller by larger",
        {"(1 + (1 - part**2) ** 0.5) / part": "part / (1 + (1 - part**2) ** 0.5)"},
        2.4,
        larger="other way",
    ),
    Wrong("ps6-duels-index: all ones", "indices = [1, 1, 1]", 0, indices="measured"),
    Wrong(
        "ps6-duels-index: typed by hand",
        "indices = [round(nl.jain_index(run.flows.received_bps), 3) for run in duels]",
        1.5,
        indices="round",
    ),
    Wrong("ps6-scale: windows of ten twice", {"window_s=1)": "window_s=10)"}, 1, lowest_1s="10"),
    Wrong(
        "ps6-scale: seconds above",
        {"seconds < 0.98": "seconds >= 0.98"},
        2,
        seconds_below="not below",
    ),
    Wrong(
        "ps6-share: rounded down",
        {
            "while expected_share(streams, others) < share:\n        streams += 1": (
                "streams = int(share * others / (1 - share))"
            )
        },
        1.2,
        streams_for="round up",
    ),
    # streams_for asks it, and is right where all is even
    Wrong(
        "ps6-share: a multiple of the others",
        {"return streams / (streams + others)": "return streams / others"},
        0.4,
        expected_share="multiple",
    ),
    Wrong(
        "ps6-contest: by counting",
        {"share = ": "share = my.streams / (my.streams + 1)  # "},
        2,
        share="counting",
    ),
    Wrong("ps6-contest: nothing omitted", {", omit=5": ""}, 1.2, contest="omit"),
    # the names of the queues, half of an RTT that is near, and who has more
    Wrong(
        "ps6-bbr: BBR first",
        {
            '"h2", congestion="reno"': '"h2", congestion="bbr"',
            '"h4", congestion="bbr"': '"h4", congestion="reno"',
            'columns=["reno", "bbr", "rtt_s"]': 'columns=["bbr", "reno", "rtt_s"]',
        },
        0.6 + 0.6 + 0.5 + 0.125 + 1,
        shallow="congestion",
        fig="run first",
    ),
    # the unit alone, in two of four columns
    Wrong(
        "ps6-bbr: per cent",
        {"[[*run.flows": "[[*100 * run.flows"},
        4.25,
        shares="per cent",
        fig="curve",
    ),
    Wrong("ps7-drawing: one way", {"2 * (": "("}, 3, rtt_s="one way"),
    # two of the means are the medians
    Wrong("ps7-drawing: mean of the pings", {".median()": ".mean()"}, 2 + 4 / 3, idle_s="mean"),
    # without a queue
    Wrong(
        "ps7-model: the queue in bytes",
        {"8 * 1514 * queue": "1514 * queue", "8 * queue_bytes": "queue_bytes"},
        0.4,
        longest_rtt_s="bytes",
        busy="bytes",
    ),
    Wrong("ps7-model: more than all", {" if w < 1 else 1.0": ""}, 3.6, busy="w < 1"),
    Wrong(
        "ps7-one: with headers, all pings",
        {
            "nl.models.goodput_bps(nl.units.rate_bps(my.l3))": "nl.units.rate_bps(my.l3)",
            "rtt_s[loaded.pings.seq >= 10]": "rtt_s",
        },
        2,
        used="headers",
        longest_s="slow start",
    ),
    Wrong("ps7-fair: by all four", {"l3 / 3": "l3 / 4", "l2 / 3": "l2 / 4"}, 2, split="four flows"),
    # three of the four are right
    Wrong("ps7-fair: h2's third", {"l2 - each - call": "l2 / 3"}, 3.5, max_min="L2"),
    # the call is close
    Wrong(
        "ps7-four: all at once",
        {", start=1": ""},
        0.6 + 2 * (1 + 0.125 + 0.25) / 3,
        four="start",
        table="run first",
    ),
    Wrong(
        "ps7-four: h2 counted",
        {'.where(four.flows.dst == "h9", 0)': ""},
        1 + 4 / 3,
        table="cross L3",
    ),
    Wrong(
        "ps7-flood: flows exchanged",
        {"tcp_bps, udp_bps =": "udp_bps, tcp_bps ="},
        1,
        tcp_bps="other flow",
        udp_bps="other flow",
    ),
    Wrong("ps7-flood: the call's rate", {"my.flood": "my.call"}, 0.6, flood="bitrate"),
    Wrong("ps7-build: no queue", {", queue_packets=50": ""}, 4 * 5 / 6, ring="queue"),
    Wrong(
        "ps7-build: A and C exchanged",
        {"my.d1, rate=my.l1": "my.d3, rate=my.l3", "my.d3, rate=my.l3": "my.d1, rate=my.l1"},
        4 / 3,
        ring="rtt_s",
    ),
]
