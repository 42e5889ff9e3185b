import pytest

import netlab as nl
from netlab.engines import recorded
from netlab.engines.cache import cache_folder
from netlab.engines.recorded import SECOND
from netlab.running import robustness as module


@pytest.fixture
def records(tmp_path, monkeypatch):
    """A folder of records of this test alone."""
    monkeypatch.setenv("NETLAB_RECORDS", str(tmp_path))
    monkeypatch.delenv("NETLAB_SECOND_CACHE", raising=False)
    return tmp_path


def duel():
    tests = [nl.Iperf3(f"h{n}", f"h{n + 1}", time=3, congestion="reno") for n in (1, 3)]
    return nl.Experiment(nl.wan("20mbit", "20ms"), *tests)


def total(runs):
    return runs.received_bps.sum() / 1e6


TRIED = dict(seeds=[1, 2], noise=["10us"])


def test_each_variant_is_another_experiment_and_the_link_limits_all(records, monkeypatch):
    monkeypatch.setenv("NETLAB_RECORD", "live")
    table = nl.robustness(duel, total, holds=lambda mbps: mbps < 19.2, **TRIED)
    assert list(table.index) == ["as it is", "noise of 10us", "twice as long", "another kernel"]
    assert list(table.seeds) == [2, 2, 2, 0]
    assert list(table.holds[:3]) == ["2 of 2"] * 3
    assert (table.lowest[:3] <= table["median"][:3]).all()
    assert (table["median"][:3] <= table.highest[:3]).all()
    store, other = recorded.records(), recorded.records(SECOND)
    kept = [record["experiment"] for record in store.records()]
    assert len(kept) == 6
    assert sorted(one["traffic"][0]["time"] for one in kept) == [3] * 4 + [6] * 2
    noisy = [one for one in kept if one["topology"]["hosts"][0].get("noise") == "10us"]
    assert sorted(one["seed"] for one in noisy) == [1, 2]
    about = {"kernel": "9.9.9"}  # as if they came from another kernel, and are read from there
    of_other = [one | {"provenance": one["provenance"] | about} for one in store.records()]
    other.pack([one for one in of_other if one["experiment"]["traffic"][0]["time"] == 3], "one")
    monkeypatch.setenv("NETLAB_RECORD", "off")
    table = nl.robustness(duel, total, engine="recorded", **TRIED)
    assert table.loc["Linux 9.9.9", "seeds"] == 2
    assert table.loc["Linux 9.9.9", "median"] == table.loc["as it is", "median"]


def test_the_records_of_another_kernel_are_of_its_engine_alone(records, monkeypatch):
    """... whatever other threads record meanwhile."""
    engine, result = nl.engines.pick("guest"), nl.run(duel(), engine="guest")
    monkeypatch.setenv("NETLAB_RECORD", "live")
    monkeypatch.setenv("NETLAB_SECOND_CACHE", str(cache_folder()))
    other = recorded.second_kernel()
    recorded.record_if_wanted(result, engine)
    assert len(list(records.iterdir())) == 1
    nl.sweep(duel, seeds=[5], engine=other)
    assert [one["experiment"]["seed"] for one in other.records.records()] == [5]
    assert [one["experiment"]["seed"] for one in recorded.records().records()] == [1]


@pytest.mark.parametrize("asked", [True, False])
def test_offload_is_a_variant_where_it_is_asked_for(monkeypatch, asked):
    def fake(function, seeds, engine, variant, **axes):
        for name in variant:
            tried[name] = function(name, **axes).topology.offloading
        raise InterruptedError

    tried = {}
    monkeypatch.setattr(module, "sweep", fake)
    with pytest.raises(InterruptedError):
        nl.robustness(duel, total, offload=asked)
    assert tried.pop(f"offload {'on' if asked else 'off'}") is asked
    assert len(tried) == 5 and all(tried.values()), "as the experiment has it"


def test_without_a_record_of_another_kernel_it_says_so_in_a_line(records, capsys):
    recorded.records(SECOND).record(nl.run(duel(), seed=1))
    capsys.readouterr()
    found = module.on_second_kernel(lambda variant: duel(), [99], {})
    assert found == (None, "another kernel")
    said = "another kernel: this experiment is not among the recorded ones.\n"
    assert capsys.readouterr().out == said


@pytest.fixture(scope="module")
def runs():
    return nl.sweep(duel, seeds=[1, 2])


def test_a_conclusion_that_fails_is_counted_and_a_run_that_fails_concludes_nothing(runs):
    row = module.numbers(runs, total, lambda mbps: mbps > 1000)
    assert row["holds"] == "0 of 2" and row["seeds"] == 2
    failed = runs.assign(error=runs.seed.map({1: None, 2: "GuestError: it died"}))
    row = module.numbers(failed, total, lambda mbps: mbps > 0)
    assert row["seeds"] == 1 and row["holds"] == "1 of 1"
    assert module.longer(duel().but(virtual_limit_s=100), 2).virtual_limit_s == 200
    with pytest.raises(nl.SpecificationError, match="one number"):
        module.numbers(runs, lambda one: one.received_bps, None)


@pytest.mark.parametrize(
    "wrong", [{"variant": [1]}, {"seeds": 5}, {"seeds": [1, 1]}, {"noise": "10us"}]
)
def test_lists_are_lists_seeds_differ_and_its_own_axis_is_refused(wrong):
    with pytest.raises(nl.SpecificationError, match=next(iter(wrong))):
        nl.robustness(duel, total, **wrong)
