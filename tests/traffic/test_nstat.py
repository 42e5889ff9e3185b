"""Whose the kernel's counters are: a rate of window reductions is one test's, or NaN."""

import pytest

import netlab as nl

PATH = nl.wan("100mbit", "20ms", "0.1%")
TEST = nl.Iperf3("h1", "h2", congestion="reno", time=10)


def rate(*others):
    result = nl.run(PATH, TEST, nl.Nstat("h1"), *others)
    return result.flows.set_index("flow").halving_rate


@pytest.mark.parametrize(
    "other",
    [
        nl.Iperf3("h2", "h1", time=10),
        nl.Iperf3("h3", "h1", time=10),
        nl.Iperf3("h1", "h4", time=10, udp=True),
        nl.Shell("h4", "sleep 1"),  # nobody knows to whom it talks
    ],
    ids=["its receiver sends back", "another host sends to it", "it sends UDP too", "a command"],
)
@pytest.mark.long
def test_beside_whatever_else_may_be_counted_there_it_is_not_known(other):
    assert rate(other).isna().all()


def test_alone_it_is_about_the_loss_and_pings_do_not_count():
    alone = rate()[1]
    assert alone == pytest.approx(0.001, rel=0.5)
    assert rate(nl.Ping("h1", "h2", count=2))[1] == pytest.approx(alone, rel=0.3)
