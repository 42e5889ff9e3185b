"""data/published.csv: every number that the five source documents report, in SI units, and the
physics between them.
"""

from pathlib import Path

import pandas as pd
import pytest
from pytest import approx

CSV = Path(__file__).parents[1] / "data" / "published.csv"
COLUMNS = ["id", "source", "item", "quantity", "kind", "unit", "value", "conditions"]
published = pd.read_csv(CSV)
value = published.set_index("id").value


def values(pattern):
    """The values whose whole id matches, in file order; never none."""
    found = value[value.index.str.fullmatch(pattern)]
    assert len(found), pattern
    return found


def jain(x):
    return x.sum() ** 2 / (len(x) * (x**2).sum())


# --- the file


def test_columns_ids_and_words():
    assert list(published.columns) == COLUMNS
    assert published.value.dtype == float and not published.isna().any(axis=None)
    assert published.id.is_unique and published.id.str.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+").all()
    assert (published.id.str.split("-").str[0] == published.source).all()
    assert set(published.source) == {"lab9", "lab10", "ornl", "portfolio"}
    assert set(published.kind) == {"measured", "set", "computed", "expected"}
    assert set(published.unit) == {"bit/s", "bit", "byte", "s", "packet", "1"}
    assert published.quantity.str.fullmatch(r"[a-z]+(_[a-z]+)*").all()


def test_values_are_plain_decimals_without_float_noise():
    text = pd.read_csv(CSV, dtype=str).value
    assert text.str.fullmatch(r"\d+|\d+\.\d*[1-9]").all()
    assert (text.str.replace(".", "").str.strip("0").str.len() <= 12).all()


@pytest.mark.parametrize(
    ("id", "unit", "expected"),
    [
        ("lab9-fig13-rtt-min", "s", 0.02008),
        ("lab9-fig15-received", "bit/s", 3_230_000_000),
        ("lab9-fig15-throughput-text", "bit/s", 3_220_000_000),
        ("lab9-fig15-second-3-4-cwnd", "byte", 16_882_073.6),  # 16.1 MBytes of 1024^2
        ("lab9-fig17-stream-23-second-0-1-sent", "bit/s", 539_000_000),
        ("lab9-fig18-throughput", "bit/s", 9_500_000_000),
        ("lab9-fig23-second-6-7-cwnd", "byte", 2_897.92),  # 2.83 KBytes: two segments of 1448
        ("lab9-fig25-stream-25-second-0-1-sent", "bit/s", 931_000_000),
        ("lab9-sec4-netem-loss", "1", 0.01),
        ("lab10-fig13-rtt-max", "s", 0.040956),
        ("lab10-fig21-throughput", "bit/s", 9_380_000_000),
        ("lab10-fig24-jain-8-streams", "1", 0.91395),
        ("lab10-fig29-jain-reno-reno", "1", 0.99595),
        ("lab10-fig33-jain-reno-bbr", "1", 0.86036),
        ("ornl-8-streams-250k-throughput", "bit/s", 224_000_000),
        ("ornl-8-streams-1m-buffer", "byte", 1_048_576),
        ("ornl-aimd-1-stream-4m-retransmits", "1", 412),
        ("portfolio-case2-l2-rtt-measured", "s", 0.047692),
        ("portfolio-case4-1-h1-h4-throughput-measured", "bit/s", 11_200_000),
        ("portfolio-case5-h1-h4-client-2-throughput-measured", "bit/s", 4_400_000),
    ],
)
def test_known_figures(id, unit, expected):
    assert value[id] == expected
    assert published.set_index("id").unit[id] == unit


# --- the labs


@pytest.mark.parametrize("figure", ["lab9-fig9", "lab9-fig13"])
def test_ping_lines_agree_with_their_summary(figure):
    lines = values(rf"{figure}-ping-seq-\d-rtt")  # without the line that OCR doubled in Figure 13
    assert len(lines) == value[f"{figure}-ping-received"]
    assert lines.mean() == approx(value[f"{figure}-rtt-avg"], abs=2e-5)
    assert lines.min() == approx(value[f"{figure}-rtt-min"], abs=5e-5)
    assert lines.max() == approx(value[f"{figure}-rtt-max"], abs=5e-5)


@pytest.mark.parametrize("what", ["", "-bytes"])
def test_no_more_is_received_than_sent(what):
    for id, received in values(rf"(?!.*-ping-received).*-received{what}").items():
        assert received <= value[id.replace("received", "sent")]


def test_rates_are_bytes_over_duration():
    for id, size in values(r"lab9-(fig(15|23|26-.*)|.*-second-\d-\d+)-\w+-bytes").items():
        figure, end = "-".join(id.split("-")[:2]), id.split("-")[-2]
        seconds = 1 if "second" in id else value[f"{figure}-{end}-duration"]
        assert size * 8 / seconds == approx(value[id.removesuffix("-bytes")], rel=0.01)


@pytest.mark.parametrize("figure", ["lab9-fig15", "lab9-fig23"])
def test_ten_seconds_average_to_the_total(figure):
    rates, sizes = (values(rf"{figure}-second-.*-sent{what}") for what in ("", "-bytes"))
    assert len(rates) == len(sizes) == 10
    assert rates.mean() == approx(value[f"{figure}-sent"], abs=1e7)
    assert sizes.sum() == approx(value[f"{figure}-sent-bytes"], rel=0.002)


@pytest.mark.parametrize(
    ("streams", "total"),
    [
        (r"lab9-fig17-stream-\d\d-second-0-1", "lab9-fig17-sum-second-0-1"),
        (r"lab9-fig25-stream-\d\d-second-0-1", "lab9-fig25-sum-second-0-1"),
        (r"lab9-fig26-stream-\d\d", "lab9-fig26-sum"),
    ],
)
def test_eight_streams_add_up_to_the_sum(streams, total):
    assert len(values(rf"{streams}-sent")) == value["lab9-sec3-streams"] == 8
    for what in ("sent", "sent-bytes"):
        assert values(f"{streams}-{what}").sum() == approx(value[f"{total}-{what}"], rel=0.005)


def test_retransmits_add_up_exactly():
    for parts, total in [
        ("lab9-fig23-second-.*", "lab9-fig23"),
        ("lab9-fig17-stream-.*", "lab9-fig17-sum-second-0-1"),
        ("lab9-fig26-stream-.*", "lab9-fig26-sum"),
    ]:
        assert values(f"{parts}-retransmits").sum() == value[f"{total}-retransmits"]
    # Figure 15: the copy lost the first second's count
    others = values(r"lab9-fig15-second-.*-retransmits")
    assert len(others) == 9 and others.sum() == 0
    assert "lab9-fig15-second-0-1-retransmits" not in value


def test_jain_example():
    flows = values(r"lab10-jain-example-flow-\d")
    assert list(flows) == [5e9, 3e9, 1e9]
    assert round(jain(flows), 2) == value["lab10-jain-example-index"] == 0.77
    assert jain(values(r"lab10-jain-example-mbps-flow-\d")) == approx(jain(flows))
    capacity, share = (value[f"lab10-jain-example-{name}"] for name in ("capacity", "fair-share"))
    assert flows.sum() == capacity == 3 * share


def test_bandwidth_delay_product():
    bits = value["lab10-bdp-rate"] * value["lab10-bdp-rtt"]
    assert bits == value["lab10-bdp-bits"] == 8 * value["lab10-bdp-bytes"]
    # 4.9 % more than 25,000,000
    assert value["lab10-bdp-bytes-1024"] == 25 * value["lab10-bdp-mbyte"] == 25 * 1024**2
    assert value["lab10-bdp-twice"] == 2 * value["lab10-bdp-bytes-1024"]
    assert set(values(r"lab10-h[12]-tcp-[rw]mem-max")) == {value["lab10-bdp-twice"]}


# --- ORNL


def test_one_loss_among_k_flows_takes_one_over_2k():
    assert value["ornl-single-decrease"] == 1 / 2
    assert value["ornl-4-streams-one-loses-decrease"] == 1 / (2 * value["ornl-4-streams"])
    assert round(1 / (2 * value["ornl-wad-streams-compared"]), 2) == value["ornl-wad-aimd-decrease"]
    assert value["ornl-wad-aimd-increase"] == value["ornl-wad-streams-compared"]


@pytest.mark.parametrize("n", [3, 9])
def test_bob_gets_one_share_among_all_flows(n):
    assert value[f"ornl-alice-{n}-flows-bob-share"] == 1 / (value[f"ornl-alice-{n}-flows"] + 1)


# --- the portfolio

PATHS = {path: path.split() for path in ("l1", "l2", "l3")}
PATHS |= dict.fromkeys(("h1-h4", "h2-h5", "h3-h6"), ("l1", "l2"))
PATHS |= {"h1-h9": ("l1", "l2", "l3"), "h7-h9": ("l2", "l3"), "h8-h9": ("l3",)}
ALONE = [(2, "l1"), (2, "l2"), (2, "l3"), (3, "h1-h4"), (3, "h1-h9"), (3, "h7-h9")]
TOGETHER = {"4-1": "h1-h4 h2-h5", "4-2": "h1-h4 h2-h5 h3-h6"}
TOGETHER |= {"4-3": "h1-h4 h7-h9", "4-4": "h1-h4 h8-h9"}
CASES = [(case, path, [path]) for case, path in ALONE]
CASES += [(case, path, flows.split()) for case, flows in TOGETHER.items() for path in flows.split()]


@pytest.mark.parametrize(("case", "path", "flows"), CASES)
def test_expected_is_the_scarcest_link_over_its_flows_and_twice_the_delays(case, path, flows):
    name, links = f"portfolio-case{case}-{path}", PATHS[path]
    users = {link: sum(link in PATHS[flow] for flow in flows) for link in links}
    share = min(value[f"portfolio-{link}-rate"] / users[link] for link in links)
    assert value[f"{name}-throughput-expected"] == share
    round_trip = 2 * sum(value[f"portfolio-{link}-delay"] for link in links)
    assert value[f"{name}-rtt-expected"] == approx(round_trip)
    assert value[f"{name}-throughput-measured"] < share  # simpleperf filled no link
    assert value[f"{name}-rtt-measured"] > value[f"{name}-rtt-expected"]


def test_case_5_shares_the_second_link_among_four_connections():
    each = value["portfolio-case5-bottleneck"] / value["portfolio-case5-flows"]
    single = values(r"portfolio-case5-(h1-h4-client-\d|h2-h5|h3-h6)-throughput-expected")
    assert list(single) == [each] * 4 == [7.5e6] * 4
    assert value["portfolio-case5-h1-h4-throughput-expected"] == 2 * each
    slower = min(value["portfolio-l1-rate"], value["portfolio-l2-rate"])
    assert value["portfolio-case5-bottleneck"] == slower


@pytest.mark.parametrize(("path", "megabits"), [("h1-h4", 20), ("h1-h9", 13), ("h7-h9", 12)])
def test_case_1_offered_less_than_the_bottleneck(path, megabits):
    """The column "Interval (us)" is iperf's gap between datagrams of 1470 bytes: measured is what
    was offered.
    """
    offered = 1470 * 8 / value[f"portfolio-case1-{path}-interval"]
    assert offered == approx(megabits * 1024**2, rel=1e-5)
    assert value[f"portfolio-case1-{path}-throughput"] == approx(offered, rel=0.01)
    assert offered < value[f"portfolio-case1-{path}-bottleneck"]


def test_case_4_prints_each_rtt_twice():
    for id, short in values(r"portfolio-case4-.*-rtt-measured-short").items():
        assert 0 <= value[id.removesuffix("-short")] - short < 1e-4 + 1e-9  # cut off, not rounded
