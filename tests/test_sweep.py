import pytest

import netlab as nl


def lossy(loss, parallel):
    return nl.Experiment(nl.wan("100mbit", "20ms", loss), nl.Iperf3("h1", "h2", parallel=parallel, time=2, congestion="reno"))


def test_a_sweep_has_a_row_per_cell_and_seed_in_the_order_of_its_axes():
    grid = nl.sweep(lossy, loss=["0.1%", "1%"], parallel=[1, 2], seeds=[1, 2])
    assert grid[["loss", "parallel", "seed"]].values.tolist() == [
        [loss, parallel, seed] for loss in ("0.1%", "1%") for parallel in (1, 2) for seed in (1, 2)
    ]
    assert grid.loss_rate.tolist() == [0.001] * 4 + [0.01] * 4
    assert (grid.base_rtt_s == 0.02).all() and (grid.bottleneck_bps == 100e6).all()
    alone = nl.run(lossy("1%", 2), seed=2).flows.received_bps[0]
    assert grid.received_bps.iloc[-1] == alone, "guests that run at once do not disturb each other"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"loss": ["0.1%", "200%"], "parallel": [1]}, "200%"),
        ({"loss": [], "parallel": [1]}, "loss"),
        ({"loss": ["1%"], "parallel": [1], "seeds": []}, "seeds"),
    ],
)
def test_a_bad_cell_is_refused_before_anything_starts(arguments, words, monkeypatch):
    monkeypatch.setattr(nl.engines.guest.GuestEngine, "connect", lambda *_: pytest.fail("nothing must start"))
    with pytest.raises(nl.SpecificationError, match=words):
        nl.sweep(lossy, **arguments)


def test_a_function_that_gives_no_experiment_is_refused():
    with pytest.raises(nl.SpecificationError, match=r"must return a netlab.Experiment"):
        nl.sweep(lambda loss: None, loss=["1%"])


def test_an_axis_named_like_a_flow_s_column_keeps_its_own():
    def of(congestion):
        test = nl.Iperf3("h1", "h2", time=1, congestion=congestion)
        return nl.Experiment(nl.wan("100mbit", "20ms"), test)

    grid = nl.sweep(of, congestion=["reno", "bbr"])
    assert grid.congestion.tolist() == ["reno", "bbr"] and grid.columns.is_unique
