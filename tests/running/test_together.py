"""Results of tests that did not run together, and over UDP: nothing is added up that was not there
at one time, or that did not arrive.
"""

import math

import pandas as pd
import pytest

import netlab as nl
from netlab.traffic.throughput import flow_row


def run(*tests):
    return nl.run(nl.wan("20mbit", "20ms"), *tests, stagger="0ms")


@pytest.mark.parametrize(("start", "words"), [(0, ""), (1, "all only for 1 of 3 s")])
def test_a_result_says_that_its_tests_did_not_run_together(start, words):
    result = run(nl.Iperf3("h1", "h2", time=2), nl.Iperf3("h3", "h4", time=2, start=start))
    subtitle = nl.plots.streams(result).layout.title.subtitle.text.replace("<br>", " ")
    for told in (repr(result), subtitle):
        assert ("they did not run together" in told) == bool(start) and words in told


def test_flows_over_udp_are_what_arrived_in_each_stream_and_in_all():
    lossy = nl.Iperf3("h1", "h2", time=2, udp=True, bitrate="16mbit", parallel=2)
    result = run(lossy)
    (flow,), streams = result.flows.itertuples(), result.streams
    assert flow.sent_bps == pytest.approx(32e6, rel=0.01) and (streams.loss > 0.3).all()
    assert flow.received_bps == pytest.approx(streams.received_bps.sum())
    assert 18e6 < flow.received_bps <= nl.models.goodput_bps(20e6) * 1.01
    assert flow.jain_index == pytest.approx(nl.jain_index(streams.received_bps))
    # intervals are the sender's: every place that shows them says so
    assert "UDP lost" in nl.plots.throughput(result).layout.title.subtitle.text
    with pytest.warns(UserWarning, match=r"flow 1 is UDP.*get_server_output=True"):
        nl.fairness.index_over_time(result.intervals, 1)
    counted = run(lossy.but(get_server_output=True))
    assert counted.intervals.received_bps.notna().any()
    assert counted.flows.received_bps[0] == pytest.approx(flow.received_bps, rel=0.01)


def test_a_flow_of_streams_of_which_one_is_not_known_is_not_known():
    columns = ["flow", "src", "dst", "congestion", "end_s", "rtt_s", "rtt_min_s"]
    ends = dict.fromkeys(columns, 1.0)
    rows = pd.DataFrame([ends | {"sent_bps": 5.0, "received_bps": 4.0, "retransmits": 3}] * 2)
    assert flow_row(rows, 0, 1448)["received_bps"] == 8
    rows.loc[1, "received_bps"] = math.nan
    row = flow_row(rows, 0, 1448)
    assert row["sent_bps"] == 10 and row["retransmits"] == 6 and math.isnan(row["received_bps"])
