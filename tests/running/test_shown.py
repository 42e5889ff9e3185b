"""What a notebook shows of a network."""

from tests.running import scripted


def test_it_shows_the_picture_the_time_and_what_runs(network):
    assert "Nothing runs" in network._repr_html_() and 'alt="A network of' in network._repr_html_()
    server = network.start("h2", "iperf3 -s 2>&1 | cat")
    network.type("h1", "ping -c 3 10.0.0.2", stays=True, show=lambda _: None)
    shown = network._repr_html_()
    assert "<li>h2: <code>iperf3 -s 2&gt;&amp;1 | cat</code>, in the background</li>" in shown
    assert "<li>h1: <code>ping -c 3 10.0.0.2</code>, on its terminal</li>" in shown
    assert f"{network.clock:.3f} s on the virtual clock; engine guest" in shown
    network.sleep(3)  # ping has ended, and its terminal asks for the next line
    server.stop()
    assert network.jobs == [] and "Nothing runs" in network._repr_html_()


def test_jobs_are_those_that_have_not_been_seen_to_end():
    net = scripted.network()
    net.run("h1", "true")
    first, second = net.start("h1", "sleep 9"), net.start("h2", "sleep 9")
    assert net.jobs == [first, second]
    first.wait()
    assert net.jobs == [second]


def test_a_closed_network_says_so():
    net = scripted.network()
    net.start("h1", "sleep 9")
    net.close()
    assert "<b>Closed</b>, at 1.000 s" in net._repr_html_() and net.jobs == []
    assert repr(net) == "<Network h1, h2; 1.000 s on scripted, closed>"
