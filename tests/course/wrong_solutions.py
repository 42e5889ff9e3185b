"""Wrong solutions of the problem sets, as students in a hurry write them, and what each should get.

By set, a row for each: the mistake and what the student thought; the edits of the solution, by
cell: pieces of its source and what replaces them, or (as a text) the whole source; the points of
the exercises that it spoils; and by answer, words that its hint must have. Cells and exercises are
named without the set and `-check`. Points and words were decided before anything was graded: an
answer of which only the unit is wrong is worth a quarter, one that was rounded a half, another
quantity nothing; and of lists, tables and runs the parts count. What was measured in another run
may be near by chance: then the points are a pair, the least and the most. The typed set also has
other ways to the same state, which cost nothing, and pretences.
"""

TBF = "burst 5000000 limit 15000000"
LARGE = "10240 87380 134217728"
RECEIVED = "[  7]   0.00-5.02   sec  5.60 GBytes  9.56 Gbits/sec                  receiver"

# fmt: off
WRONG = {
    "ps1": [
        # 0.9 of each run; the goodput is near, hence a half
        ("no seed: virtual time repeats anyway", {"path": {", seed=my.seed": ""}}, {"path": 3.8},
         {"transfer": "seed", "goodput_bps": "transfer"}),
        ("pipe in bits: rate times delay is the product", {"bdp": {" / 8": ""}}, {"bdp": 0.75},
         {"bdp_bytes": "bits"}),
        ("half a round trip: data travel one way only", {"window": {"/ rtt_s": "/ (rtt_s / 2)"}},
         {"window": 0}, {"window_limit_bps": "two"}),
        ("ms and Mbit/s: wrote what iperf3 and ping print",
         {"path": {"rtt_s = ping.pings.rtt_s.min()": "rtt_s = 1000 * ping.pings.rtt_s.min()",
         "received_bps[0]": "received_bps[0] / 1e6"}}, {"path": 2.75}, {"rtt_s": "prefix",
         "goodput_bps": "prefix"}),
        ("first ping, sent bits: a ping is a ping, and a transfer is what was sent",
         {"path": {"rtt_s.min()": "rtt_s[0]", "received_bps": "sent_bps"}}, {"path": 2},
         {"rtt_s": "ARP", "goodput_bps": "sent"}),
        ("typed by hand: copied the printed numbers, with three digits",
         {"path": {"received_bps[0]":
         'received_bps[0]\ngoodput_bps = float(f"{goodput_bps:.3g}")'}}, {"path": 4},
         {"goodput_bps": "round"}),
        ("units in quotes: an answer has a unit", {"enough": 'enough_bytes = "833000 bytes"'},
         {"enough": 0}, {"enough_bytes": "number"}),
        ("whole buffer: the buffer is the window", {"predict": {"0.75 * ": ""}}, {"predict": 1},
         {"predicted_bps": "three quarters"}),  # the link limits the third
        ("faster than the link: forgot that the link has a rate",
         {"predict": {"min(8 * window / delay_s, link_bps)": "8 * window / delay_s"}},
         {"predict": 2}, {"predicted_bps": "link"}),
        ("largest first: drew the figure from the right, and turned its axes",
         {"table": {"(1, 2, 40)": "(40, 2, 1)", "x=table": "y=table", "y=table": "x=table"}},
         {"table": 4 / 3}, {"table": "order", "fig": "curve"}),  # the middle row
        ("default buffers: forgot to hand the size on", {"table": {", buffers=size": ""}},
         {"table": 2}, {"table": "default buffers", "fig": "curve"}),  # the sizes
        ("matplotlib: draws with what the last course used",
         {"table": {"def with_buffer": "import matplotlib.pyplot as plt\n\n\ndef with_buffer"}},
         {"table": 0}, {"table": "matplotlib", "fig": "matplotlib"}),
        ("the rate: more rate is more goodput", {"offer": {"delay": "rate"}}, {"offer": 0}, {}),
    ],
    "ps2": [
        ("rounded down: int() makes a whole number", {"needed": {"math.ceil": "int"}},
         {"needed": 0.6}, {"streams_needed": "round up"}),  # one of five comes out even
        ("one more: rounding up is adding one", {"needed": {"math.ceil(": "1 + int("}},
         {"needed": 2.4}, {"streams_needed": "even"}),
        ("whole buffer: the buffer is the window", {"own": {"0.75 * ": ""}}, {"own": 0},
         {"needed": "three quarters"}),
        ("sent: what was sent has arrived", {"gain": {"received_bps": "sent_bps"}}, {"gain": 2},
         {"gain": "sent"}),
        ("turned round: divided one by many",
         {"gain": {"many.flows.received_bps[0] / one.flows.received_bps[0]":
         "one.flows.received_bps[0] / many.flows.received_bps[0]"}}, {"gain": 2},
         {"gain": "other way"}),
        ("default buffers: took the path of another exercise",
         {"gain": {", buffers=my.buffer": ""}}, {"gain": 1.2}, {"one": "topology",
         "many": "topology"}),
        ("jain without n: copied half of the formula", {"jain": {"len(rates) * ": ""}}, {"jain": 0},
         {"jain": "n is"}),
        ("index of the flow: took the flow's row for the streams'",
         {"loss": {"index = nl.jain_index(received)": "index = 1.0"}}, {"loss": 4},
         {"index": "streams"}),
        ("share of 1 as per cent: forgot the 100", {"loss": {"100 * received": "received"}},
         {"loss": 3}, {"fig": "curve"}),
        ("default algorithm: did not read Reno", {"loss": {', congestion="reno"': ""}},
         {"loss": (0.6, 1.6)}, {"lossy": "congestion", "index": "run first", "fig": "run first"}),
        # 0.6 of the figure
        ("no titles: a figure speaks for itself",
         {"loss": {"fig.update_xaxes(title=\"stream\")\n": "",
         'fig.update_yaxes(title="share of the sum [%]")': ""}}, {"loss": 4.8}, {"fig": "title"}),
        ("twice: more is more", {"full": {"about the same": "twice"}}, {"full": 0},
         {"eight_carry": ""}),
    ],
    "ps3": [
        ("per cent: divided the loss by 100", {"mathis": {"sqrt(loss)": "sqrt(loss / 100)"}},
         {"mathis": 0}, {"mathis_bps": "fraction"}),
        ("forgot the streams: thought of one", {"mathis": {"streams * 8": "8"}}, {"mathis": 1.6},
         {"mathis_bps": "streams"}),  # two of the five calls have one stream
        ("bytes: MSS is in bytes, so the result is", {"mathis": {"streams * 8 *": "streams *"}},
         {"mathis": 1}, {"mathis_bps": "bits"}),
        ("no square: solved for the root", {"target": {" ** 2": ""}}, {"target": 0},
         {"affordable_loss": "square"}),
        ("target in per cent: loss rates are per cent",
         {"target": {"affordable_loss = ": "affordable_loss = 100 * "}}, {"target": 0.75},
         {"affordable_loss": "per cent"}),
        ("turned round: formula by measurement",
         {"single": {"flow.received_bps / formula_bps": "formula_bps / flow.received_bps"}},
         {"single": 3}, {"ratio": "other way"}),
        ("the link's loss: the loss is known already",
         {"single": {"flow.retransmits / segments": "nl.units.fraction(my.loss)"}}, {"single": 3},
         {"counted_loss": "link"}),
        ("default algorithm: did not read Reno", {"single": {', congestion="reno"': ""}},
         {"single": 0.6}, {"single": "congestion", "ratio": "run first"}),
        ("one of four: forgot that there are four streams", {"constant": {"[4 * 8 *": "[8 *"}},
         {"constant": 2}, {"constants": "four"}),
        ("high first: list in the wrong order",
         {"constant": {"exponent = ": "constants = constants[::-1]\nexponent = "}}, {"constant": 2},
         {"constants": "order"}),
        ("minus a half: the law is known", {"constant": {"exponent = ": "exponent = -0.5  # "}},
         {"constant": 3}, {"exponent": "law"}),
        ("per cent on the axis: loss rates are per cent, but the title says a fraction",
         {"figure": {"p = [": "p = [100 * ", ", nl.units": ", 100 * nl.units"}}, {"figure": 0},
         {"fig": "curve"}),
        ("half the loss: forgot the root", {"doubles": {"half the RTT": "half the loss"}},
         {"doubles": 0}, {}),
    ],
    "ps4": [
        ("the far flow's share: longer is more",
         {"law": {"(1 / near_rtt_s) /": "(streams / far_rtt_s) /"}}, {"law": 0},
         {"near_share": "far flow"}),
        ("forgot the streams: each has one", {"law": {"streams / far": "1 / far"}}, {"law": 1.6},
         {"near_share": "streams"}),
        ("the cable alone: h3's RTT is its cable's",
         {"predict": "predicted = (my.ratio - 1) / my.ratio"}, {"predict": 0},
         {"predicted": "cable"}),
        ("one seed: ran the same thing three times", {"measure": {"my.seed + n": "my.seed"}},
         {"measure": 1 + 4 / 3}, {"shares": "same seed", "mean_share": "first seed"}),
        ("seeds from 1: counted from one", {"measure": {"my.seed + n": "my.seed + n + 1"}},
         {"measure": 0.9}, {"first": "seed", "shares": "run first"}),
        ("per cent: shares are per cent", {"measure": {"shares = [run": "shares = [100 * run",
         "mean_share = sum(shares) / 3": "mean_share = sum(shares) / 3"}}, {"measure": 2.25},
         {"shares": "per cent", "mean_share": "per cent"}),
        ("sent: what was sent has arrived", {"measure": {"received_bps": "sent_bps"}},
         {"measure": 1}, {"shares": "sent", "mean_share": "sent"}),
        ("the near host's price: turned the share round",
         {"price": {"share / (1 - share)": "(1 - share) / share"}}, {"price": 0.6},
         {"streams_for": "far host"}),
        ("streams for the wrong host: put parallel in the first test",
         {"bought": {'"h1", "h2", ': '"h1", "h2", parallel=my.ratio, ',
         "parallel=my.ratio, congestion": "congestion"}}, {"bought": 0.6}, {"bought": "traffic"}),
        ("as the law says: typed one half",
         {"bought": {"bought_share = ": "bought_share = 0.5  # "}}, {"bought": 1},
         {"bought_share": "law"}),
        ("smaller: more buffer helps", {"buffer": {"the same": "smaller"}}, {"buffer": 0},
         {"more_buffer": ""}),
        ("twice the cable: forgot the link's own delay",
         {"third": {'"h5": my.delay': '"h5": f"{2000 * near_rtt_s:g}ms"'}}, {"third": 2 * 5 / 6},
         {"three": "rtt_s from h5"}),  # all but the round trip of h5
    ],
    "ps5": [
        ("rows in recovery: counted rows, not beginnings",
         {"start": {"= len(begins)": '= (rows.state == "recovery").sum()'}}, {"start": 3},
         {"reductions": "rows"}),
        ("slow start ends with a loss: is true of Reno",
         {"start": {"slow_start_end_s[name] = rows.time_s[rows.ssthresh.notna()].iloc[0]":
         "slow_start_end_s[name] = first_loss_s[name]"}}, {"start": 3.5},
         {"slow_start_end_s": "first loss"}),
        ("no units: called the axes by their columns", {"figure": {"time [s]": "time_s",
         "congestion window [segment]": "cwnd"}}, {"figure": 1.6}, {"fig": "unit"}),
        ("one curve: drew Reno alone", {"figure": {"in runs.items()": "in [*runs.items()][:1]"}},
         {"figure": 1.4}, {"fig": "1 of 2"}),
        ("a whole window back: a loss takes everything",
         {"period": {"window / 2 * rtt_s": "window * rtt_s"}}, {"period": 2},
         {"reno_period_s": "half"}),
        ("the curve alone: CUBIC is its cubic",
         {"period": {"min(curve_s, like_reno_s)": "curve_s"}}, {"period": 1.5},
         {"cubic_period_s": "curve"}),
        ("slow start counted: took all rows", {"teeth": {"> 5": "> 0"}}, {"teeth": 0.75},
         {"teeth": "slow start"}),  # the names
        # the unit alone, in one of four columns
        ("milliseconds: RTTs are in ms",
         {"teeth": {"late.srtt_s.mean()": "1000 * late.srtt_s.mean()"}},
         {"teeth": 3 * (3 + 0.25) / 4}, {"teeth": "prefix"}),
        ("no root: the top is the mean", {"aimd": {") ** 0.5": ")"}}, {"aimd": 1.4},
         {"ratio": "root"}),
        ("kept or taken: took keep for what a loss takes", {"aimd": {"(1 + keep)": "(2 - keep)",
         "(1 - keep)": "keep"}}, {"aimd": 0.4 + 0.25}, {"increase_like_reno": "remains"}),
        # the rule is right, and no kernel can run it
        ("my in Mine: my.increase is the same number", {"build": {"increase *": "my.increase *",
         "keep *": "my.keep *"}}, {"build": 2.5}, {"Mine": "my"}),
        ("grows unused: forgot cwnd_limited", {"build": {"if tcp.cwnd_limited:": "if True:"}},
         {"build": 4}, {"Mine": "not full"}),  # one phase of five
        ("Reno first: the order of the traffic does not matter",
         {"race": {"congestion=rival": 'congestion="reno"',
         '"h4", congestion="reno"': '"h4", congestion=rival'}}, {"race": 1.2}, {"race": "traffic"}),
        ("nobody watches: Windows changes nothing",
         {"race": {"    nl.Windows(\"h1\", every=\"10ms\"),\n": "",
         "    nl.Windows(\"h3\", every=\"10ms\"),\n": ""}}, {"race": 2.2}, {"race": "traffic"}),
    ],
    "ps6": [
        ("jain without n: copied half of the formula", {"jain": {"len(throughputs) * ": ""}},
         {"jain": 2}, {"jain": "flows"}),
        ("smaller by larger: turned the ratio round",
         {"jain": {"(1 + (1 - part**2) ** 0.5) / part": "part / (1 + (1 - part**2) ** 0.5)"}},
         {"jain": 2.4}, {"larger": "other way"}),  # of equal flows it is right
        # an index may be 1 to nine digits
        ("all ones: it is fair, is it not", {"duels-index": "indices = [1, 1, 1]"},
         {"duels": (0, 1)}, {"indices": "measured"}),
        ("typed by hand: copied the printed numbers, with three digits", {"duels-index":
         "indices = [round(nl.jain_index(run.flows.received_bps), 3) for run in duels]"},
         {"duels": (1.5, 2)}, {"indices": "round"}),
        ("windows of ten twice: copied a line", {"scale": {"window_s=1)": "window_s=10)"}},
         {"scale": 1}, {"lowest_1s": "10"}),
        ("seconds above: counted the good ones", {"scale": {"seconds < 0.98": "seconds >= 0.98"}},
         {"scale": 2}, {"seconds_below": "not below"}),
        ("rounded down: int() makes a whole number",
         {"share": {"    streams = 1\n    while expected_share(streams, others) < share:\n"
         "        streams += 1\n    return streams":
         "    return int(share * others / (1 - share))"}}, {"share": 1.2},
         {"streams_for": "round up"}),
        # streams_for asks it, and is right where all is even
        ("a multiple of the others: three beside one have three",
         {"share": {"return streams / (streams + others)": "return streams / others"}},
         {"share": 0.4}, {"expected_share": "multiple"}),
        ("by counting: the share is known",
         {"contest": {"share = ": "share = my.streams / (my.streams + 1)  # "}}, {"contest": 2},
         {"share": "counting"}),
        ("nothing omitted: forgot omit", {"contest": {", omit=5": ""}},
         {"contest": (1.2, 1.2 + 1)}, {"contest": "omit"}),  # the share may be near
        # the names of the queues, and who has more; a share may be near
        ("BBR first: the order of the traffic does not matter",
         {"bbr": {'"h2", congestion="reno"': '"h2", congestion="bbr"',
         '"h4", congestion="bbr"': '"h4", congestion="reno"',
         'columns=["reno", "bbr", "rtt_s"]': 'columns=["bbr", "reno", "rtt_s"]'}},
         {"bbr": (0.6 + 0.6 + 0.5 + 1, 0.6 + 0.6 + 1 + 1)},
         {"shallow": "congestion", "fig": "run first"}),
        ("per cent: shares are per cent, though the title says [1]",
         {"bbr": {"[[*run.flows": "[[*100 * run.flows"}}, {"bbr": 4.25}, {"shares": "per cent",
         "fig": "curve"}),  # the unit alone, in two of four columns
    ],
    "ps7": [
        ("one way: a delay is a delay", {"drawing": {"2 * (": "("}}, {"drawing": 3},
         {"rtt_s": "one way"}),
        ("mean of the pings: ARP does not matter", {"drawing": {".median()": ".mean()"}},
         {"drawing": 2 + 4 / 3}, {"idle_s": "mean"}),  # two of the means are the medians
        ("the queue in bytes: forgot the 8", {"model": {"8 * 1514 * queue": "1514 * queue",
         "8 * queue_bytes": "queue_bytes"}}, {"model": 0.4}, {"longest_rtt_s": "bytes",
         "busy": "bytes"}),  # without a queue
        ("more than all: forgot that U is 1 otherwise", {"model": {" if w < 1 else 1.0": ""}},
         {"model": 3.6}, {"busy": "w < 1"}),
        ("with headers, a mean: the rate is the rate, and the longest will be like the mean",
         {"one": {"nl.models.goodput_bps(nl.units.rate_bps(my.l3))": "nl.units.rate_bps(my.l3)",
         "seq >= 10].max()": "seq >= 10].mean()"}}, {"one": 2}, {"used": "headers",
         "longest_s": "mean"}),
        ("by all four: there are four flows", {"fair": {"l3 / 3": "l3 / 4", "l2 / 3": "l2 / 4"}},
         {"fair": 2}, {"split": "four flows"}),
        ("h2's third: a third of L2 is fair", {"fair": {"l2 - each - call": "l2 / 3"}},
         {"fair": 3.5}, {"max_min": "L2"}),  # three of the four are right
        # the call is close
        ("all at once: forgot start=1", {"four": {", start=1": ""}},
         {"four": (0.6 + 2 / 3, 0.6 + 2 * (1 + 0.25 + 0.25) / 3)},
         {"four": "start", "table": "run first"}),
        ("h2 counted: a part of the sum", {"four": {'.where(four.flows.dst == "h9", 0)': ""}},
         {"four": 1 + 4 / 3}, {"table": "cross L3"}),
        ("flows exchanged: read the rows the other way round",
         {"flood": {"tcp_bps, udp_bps =": "udp_bps, tcp_bps ="}}, {"flood": 1},
         {"tcp_bps": "other flow", "udp_bps": "other flow"}),
        ("the call's rate: copied a line", {"flood": {"my.flood": "my.call"}}, {"flood": 0.6},
         {"flood": "bitrate"}),
        ("no queue: forgot queue_packets", {"build": {", queue_packets=50": ""}},
         {"build": 4 * 5 / 6}, {"ring": "queue"}),
        ("A and C exchanged: drew the triangle from the other side",
         {"build": {"my.d1, rate=my.l1": "my.d3, rate=my.l3",
         "my.d3, rate=my.l3": "my.d1, rate=my.l1"}}, {"build": 4 / 3}, {"ring": "rtt_s"}),
    ],
    "ps8": [
        ("the other port: s1-eth1 is s1's first, and comes before the path",
         {"path": {"s1-eth2": "s1-eth1"}}, {"path": 1}, {"path": "too much"}),
        ("bits: rate times delay is the product", {"wide": {"delay_s / 8": "delay_s"}},
         {"wide": 2.5}, {"bdp_bytes": "bits"}),
        ("one end alone: the sender sends, so its buffer counts",
         {"fast-receiver": {"sysctl -w net.ipv4.tcp_rmem='10240 87380 134217728'": "true"}},
         {"fast": 0}, {"fast": "too little"}),
        ("without the delay: change adds to what is there",
         {"lossy": {"netem delay $DELAY loss": "netem loss"}}, {"lossy": 1},
         {"lossy": "round-trip time"}),
        ("of the sender: what was sent has arrived", {"script": {'["receiver"]': '["sender"]'}},
         {"script": 0}, {"script": "jain.py"}),
        # another way to the same state
        ("netem has the rate",
         {"path": "%%on s1 path\ntc qdisc add dev s1-eth2 root netem delay $DELAY rate $RATE"},
         {"path": 5}, {}),
        ("the delay on the way back",
         {"path": 'path.run("s2", f"tc qdisc add dev s2-eth1 root netem delay {my.delay}")',
         "path-ping": f"%%on s1 path\ntc qdisc add dev s1-eth2 root tbf rate $RATE {TBF}",
         "path-rtt": 'answer = path.run("h1", "ping -c 3 10.0.0.2", echo=False).text\n'
         'rtt_s = min(float(one) for one in re.findall("time=([0-9.]+)", answer)) / 1000'},
         {"path": 5}, {}),
        ("Python instead of a terminal",
         {"path": 'path.run("s1", f"tc qdisc add dev s1-eth2 root handle 5: '
         'netem delay {my.delay}")\n'
         f'path.run("s1", f"tc qdisc add dev s1-eth2 parent 5: tbf rate {{my.rate}} {TBF}")'},
         {"path": 5}, {}),
        ("buffers in a file",
         {"fast-receiver": "%%on h2 fast\ncat >buffers.conf <<END\n"
         f"net.ipv4.tcp_rmem = {LARGE}\nnet.ipv4.tcp_wmem = {LARGE}\nEND\nsysctl -p buffers.conf",
         "fast": "%%on h1 fast\nsysctl -p buffers.conf"}, {"fast": 5}, {}),
        ("buffers in /proc",
         {"fast-receiver": f"%%on h2 fast\necho '{LARGE}' >/proc/sys/net/ipv4/tcp_rmem",
         "fast": f"%%on h1 fast\necho '{LARGE}' >/proc/sys/net/ipv4/tcp_wmem\ntrue"},
         {"fast": 5}, {}),
        ("buffers in Python",
         {"fast-receiver": 'for host, name in ("h2", "tcp_rmem"), ("h1", "tcp_wmem"):\n'
         f"    fast.run(host, f\"sysctl -w net.ipv4.{{name}}='{LARGE}'\")", "fast": "pass"},
         {"fast": 5}, {}),
        ("taken away, and set up anew",
         {"lossy": "%%on s1 lossy\ntc qdisc del dev s1-eth2 root\n"
         "tc qdisc add dev s1-eth2 root netem delay $DELAY loss $LOSS rate 200mbit"},
         {"lossy": 4}, {}),
        ("a program written by Python",
         {"script": 'script.files["h1"]["jain.py"] = """import json, sys\n'
         "import statistics as s\n"
         'd = json.load(open(sys.argv[1]))["end"]["streams"]\n'
         'x = [one["receiver"]["bits_per_second"] for one in d]\n'
         "print('index', s.mean(x) ** 2 / s.mean([one * one for one in x]))\n"
         '"""'}, {"script": 5}, {}),
        # pretended
        ("the qdiscs printed",
         {"path": "%%on s1 path\necho qdisc netem delay $DELAY\necho qdisc tbf rate $RATE",
         "path-rtt": "rtt_s = delay_s"}, {"path": 1}, {"path": "too little"}),
        ("tc a function of one's own",
         {"path": '%%on s1 path\ntc() { echo "qdisc $*"; }; export -f tc\n'
         "tc qdisc add dev s1-eth2 root netem delay $DELAY", "path-rtt": "rtt_s = delay_s"},
         {"path": 1}, {"path": "too little"}),
        ("the description edited",
         {"path": "%%on s1 path\ntrue", "path-rtt": "rtt_s = delay_s\n"
         'path.history.network["topology"]["links"][1] |= {"delay": my.delay, "rate": my.rate}'},
         {"path": 1}, {}),
        ("a server's words printed",
         {"fast-receiver": "%%on h2 fast\necho Server listening on 5201",
         "fast": f"%%on h1 fast\necho '{RECEIVED}'"}, {"fast": 0}, {"fast": "too little"}),
        ("iperf3 of one's own",
         {"fast-receiver": "%%on h2 fast\nmkdir bin\ncat >bin/iperf3 <<'END'\n#!/bin/sh\n"
         f"echo '{RECEIVED}'\nEND\nchmod +x bin/iperf3\nexport PATH=~/bin:$PATH",
         "fast": "%%on h1 fast\nexport PATH=~/bin:$PATH\nalias sysctl='echo large'\n"
         "mount --bind bin/iperf3 /usr/bin/iperf3\niperf3 -c 10.0.0.2"}, {"fast": 0}, {}),
        ("a history made up",
         {"fast": "text = fast.history.to_text()\n"
         'first, _, rest = text.partition("\\n")\n'
         "about = json.loads(first)\n"
         'about["seed"], about["clock"] = 1, "cpu"\n'
         f"said = 'h1 echo {RECEIVED}\\n'\n"
         'said += "#: printed 80 bytes, sha256 " + "0" * 64\n'
         'fast = nl.History.from_text(json.dumps(about) + "\\n" + said)'}, {"fast": 0}, {}),
        ("the loss printed", {"lossy": "%%on s1 lossy\necho netem delay $DELAY loss $LOSS"},
         {"lossy": 1}, {}),
        ("tc an alias", {"lossy": "%%on s1 lossy\nalias tc='echo loss $LOSS'\ntc qdisc change"},
         {"lossy": 1}, {}),
        ("the index alone",
         {"script": "%%on h1 script\necho 'print(0.8)' >jain.py\npython3 jain.py out.json"},
         {"script": 0}, {"script": "jain.py"}),
    ],
}
# fmt: on
