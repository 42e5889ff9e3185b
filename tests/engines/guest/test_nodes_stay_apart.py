"""All nodes of a network share one kernel. What of that a result can show, docs/engine.md says
under "What nodes share"; here each is tried: used up at h3, and looked at on h1.
"""

import re
import textwrap

import pytest

import netlab as nl

ADDRESSES = {"h1": "10.0.0.2", "h3": "10.0.0.3", "h2": "10.0.2.2", "h4": "10.0.2.3"}


@pytest.fixture(scope="module")
def net():
    """h1 and h3 - s1 - r1 = r2 - s2 - h2 and h4."""
    path = nl.Topology(
        hosts=[nl.Host(name, f"{address}/24") for name, address in ADDRESSES.items()],
        switches=[nl.Switch("s1"), nl.Switch("s2")],
        routers=[
            nl.Router("r1", ["10.0.0.1/24", "10.0.1.1/24"]),
            nl.Router("r2", ["10.0.1.2/24", "10.0.2.1/24"]),
        ],
        links=[
            *(nl.Link(name, "s1") for name in ("h1", "h3", "r1")),
            nl.Link("r1", "r2", rate="1gbit"),
            *(nl.Link(name, "s2") for name in ("r2", "h2", "h4")),
        ],
    )
    with nl.Network(path) as net:
        yield net


def said(net, host, command, **limit):
    return net.run(host, command, echo=False, **limit).text


def script(code):
    return f"python3 - <<'E'\n{textwrap.dedent(code)}E"


def begun(net, host, command):
    """A program that goes on while others run."""
    job = net.start(host, command)
    net.sleep(0.1)
    return job


def count(net, host, name):
    """One of a host's counters."""
    return int(said(net, host, f"nstat -asz {name} | tail -1").split()[1])


# Of `net`, what a host has no setting for: it holds for all nodes.
OF_ALL = """
core/busy_poll core/busy_read core/default_qdisc core/dev_weight core/dev_weight_rx_bias
core/dev_weight_tx_bias core/devconf_inherit_init_net core/fb_tunnels_only_for_init_net
core/gro_normal_batch core/high_order_alloc_disable core/max_skb_frags core/mem_pcpu_rsv
core/message_burst core/message_cost core/netdev_budget core/netdev_budget_usecs
core/netdev_max_backlog core/netdev_rss_key core/netdev_tstamp_prequeue
core/netdev_unregister_timeout_secs core/qdisc_max_burst core/skb_defer_max core/warnings
ipv4/fib_sync_mem ipv4/inet_peer_maxttl ipv4/inet_peer_minttl ipv4/inet_peer_threshold
ipv4/ipfrag_secret_interval ipv4/neigh/default/gc_interval ipv4/neigh/default/gc_thresh1
ipv4/neigh/default/gc_thresh2 ipv4/neigh/default/gc_thresh3 ipv4/tcp_available_ulp
ipv4/route/error_burst ipv4/route/error_cost ipv4/route/gc_elasticity ipv4/route/gc_interval
ipv4/route/gc_min_interval ipv4/route/gc_min_interval_ms ipv4/route/gc_thresh ipv4/route/gc_timeout
ipv4/route/max_size ipv4/route/redirect_load ipv4/route/redirect_number
ipv4/route/redirect_silence ipv4/tcp_low_latency ipv4/tcp_max_orphans ipv4/tcp_mem ipv4/udp_mem
"""
# ... and what each host has for itself.
OWN = {
    "net.core.somaxconn": 7,
    "net.ipv4.icmp_msgs_burst": 7,
    "net.ipv4.icmp_msgs_per_sec": 7,
    "net.ipv4.icmp_ratelimit": 7,
    "net.ipv4.ip_local_port_range": "40000 40007",
    "net.ipv4.ipfrag_high_thresh": 5555555,
    "net.ipv4.tcp_challenge_ack_limit": 7,
    "net.ipv4.tcp_congestion_control": "reno",
    "net.ipv4.tcp_fastopen_key": "00000001-00000002-00000003-00000004",
    "net.ipv4.tcp_max_syn_backlog": 7,
    "net.ipv4.tcp_max_tw_buckets": 7,
    "net.ipv4.tcp_rmem": "4096 5000 6000",
}


def test_these_settings_hold_for_all_nodes_and_no_others(net):
    look = "cd /proc/sys/net && find core ipv4 ! -type d"
    everywhere, own = (set(said(net, node, look).split()) for node in ("s1", "h1"))
    of_interfaces = re.compile("/(conf|neigh)/(?!default/gc_(thresh|interval))")
    missing = {name for name in everywhere - own if not of_interfaces.search(name)}
    assert missing == set(OF_ALL.split())


def settings(text):
    return dict(line.split(" = ") for line in text.splitlines())


def test_a_host_has_these_for_itself(net):
    look = f"sysctl {' '.join(OWN)}"
    before = settings(said(net, "h1", look))
    typed = "; ".join(f"sysctl -qw {name}='{value}'" for name, value in OWN.items())
    changed = settings(said(net, "h4", f"{typed}; {look}"))
    assert settings(said(net, "h1", look)) == before and len(before) == len(OWN)
    assert [name for name in OWN if changed[name].split() != str(OWN[name]).split()] == []
    typed = [f"sysctl -qw {name}='{value}'" for name, value in before.items()]
    said(net, "h4", "; ".join(line for line in typed if "fastopen" not in line))


HOLD = """
    import socket, time
    lines, server = [], socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, {size})
    server.bind(("", 7))
    server.listen(100)
    while True:
        lines.append(server.accept()[0])
"""
FILL = """
    import socket, time
    lines = []
    for _ in range(6):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 20)
        line.connect(("10.0.2.3", 7))
        line.setblocking(False)
        lines.append(line)
    for _ in range(40):
        for line in lines:
            try:
                line.send(bytes(1 << 20))
            except BlockingIOError:
                pass
        time.sleep(0.1)
    time.sleep(60)
"""


def test_the_memory_of_sockets_that_a_host_uses_does_not_count_for_another(net):
    """As much as Linux would allow a machine of this size in all: see boot.sh."""
    before = {host: count(net, host, "TcpExtTCPMemoryPressures") for host in ("h1", "h3")}
    jobs = [begun(net, "h4", script(HOLD.format(size=16 << 20)))]
    jobs += [begun(net, "h3", script(FILL)), begun(net, "h2", "iperf3 -s -1")]
    net.sleep(20)  # until all have as much as they take
    pages = int(re.search(r"^TCP:.* mem (\d+)", said(net, "h3", "cat /proc/net/sockstat"), re.M)[1])
    test = said(net, "h1", "iperf3 -c 10.0.2.2 -t 1 --format m | tail -4")
    for job in jobs[:2]:
        job.stop()
    assert pages * 4096 > 100e6
    assert float(re.search(r"([\d.]+) Mbits/sec +receiver", test)[1]) > 930
    for host, pressures in before.items():
        assert count(net, host, "TcpExtTCPMemoryPressures") == pressures


def test_the_neighbours_of_a_host_leave_room_for_another(net):
    """Linux would keep 1024 in all."""
    made = "for n in range(1500): print(f'neigh add 10.9.{n >> 8}.{n & 255} lladdr 02::1 dev'"
    made = made.replace("02::1", "02:00:00:00:00:01") + ", 'h3-eth0 nud stale')"
    full = said(net, "h3", f'python3 -c "{made}" | ip -batch -; ip neigh | wc -l')
    assert int(full) >= 1500
    assert "2 received" in said(net, "h1", "ip neigh flush all; ping -c 2 10.0.2.2")
    said(net, "h3", "ip neigh flush all")


def test_ports_and_closed_connections_are_a_hosts_own(net):
    many = """
        import socket
        lines = []
        for port in range(50000, 50020):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            line.bind(("", port))
            line.connect(("10.0.2.2", 7))
            lines.append(line)
        for line in lines:
            line.close()
        print("connected", len(lines))
    """
    accept = """
        import socket
        server = socket.create_server(("", 7), backlog=100)
        for _ in range(40):
            line, _ = server.accept()
            while line.recv(1):
                pass
            line.close()
    """
    begun(net, "h2", script(accept))
    was = said(net, "h3", "sysctl -n net.ipv4.tcp_max_tw_buckets").strip()
    said(net, "h3", "sysctl -qw net.ipv4.tcp_max_tw_buckets=5")
    net.sleep(70)  # none is kept of what ran before
    for host, kept in (("h3", 5), ("h1", 20)):
        assert "connected 20" in said(net, host, script(many))
        shown = said(net, host, "sleep 0.5; cat /proc/net/sockstat")
        assert f" tw {kept} " in shown, shown
    said(net, "h3", f"sysctl -qw net.ipv4.tcp_max_tw_buckets={was}")


def test_a_host_that_may_answer_with_no_more_icmp_leaves_another_its_answers(net):
    knock = """
        import socket
        for port in range(9000, 9040):
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"", ("{}", port))
    """
    few = "net.ipv4.icmp_msgs_burst=3 net.ipv4.icmp_msgs_per_sec=1"
    answers = {}
    for host, other in (("h3", "h4"), ("h1", "h2")):
        said(net, other, f"sysctl -qw net.ipv4.icmp_ratelimit=0 {few if host == 'h3' else ''}")
        before = count(net, other, "IcmpOutDestUnreachs")
        said(net, host, script(knock.format(ADDRESSES[other])))
        answers[other] = count(net, other, "IcmpOutDestUnreachs") - before
    assert answers["h2"] == 40 and answers["h4"] <= 4


def test_what_a_host_knows_of_a_path_is_its_own(net):
    said(net, "r1", "ip link set r1-eth1 mtu 1400")
    asked = said(net, "h1", "ping -c 1 -M do -s 1450 10.0.2.2; ip route get 10.0.2.2")
    other = said(net, "h3", "ip route get 10.0.2.2")
    said(net, "r1", "ip link set r1-eth1 mtu 1500")
    assert "mtu 1400" in asked and "mtu" not in other
    begun(net, "h2", "iperf3 -s -1")
    saves = "sysctl -qw net.ipv4.tcp_no_metrics_save"
    shown = said(
        net, "h1", f"{saves}=0; iperf3 -c 10.0.2.2 -n 1M >/dev/null; sleep 1; ip tcp_metrics"
    )
    assert "10.0.2.2" in shown
    assert said(net, "h3", "ip tcp_metrics").strip() == ""
    said(net, "h1", f"{saves}=1; ip tcp_metrics flush")


def test_closed_connections_that_still_have_data_are_counted_in_all(net):
    """A limit of the kernel, set in boot.sh: beyond it, a connection that is closed is reset."""
    close = """
        import socket, time
        lines = [socket.create_connection(("{}", 7)) for _ in range({})]
        time.sleep({})
        for line in lines:
            line.send(bytes(9))
            line.close()
    """
    held = [begun(net, host, script(HOLD.format(size=65536))) for host in ("h4", "h2")]
    held.append(begun(net, "h3", script(close.format("10.0.2.3", 30, 0.5))))
    said(net, "s2", "tc qdisc add dev s2-eth3 root netem loss 100%")
    net.sleep(1)
    assert " orphan 30 " in said(net, "h3", "cat /proc/net/sockstat")
    was = said(net, "s1", "sysctl -n net.ipv4.tcp_max_orphans").strip()
    assert int(was) == 1_000_000
    before = count(net, "h1", "TcpExtTCPAbortOnMemory")
    said(net, "s1", "sysctl -qw net.ipv4.tcp_max_orphans=20")
    said(net, "h1", script(close.format("10.0.2.2", 1, 0)))
    reset = count(net, "h1", "TcpExtTCPAbortOnMemory") - before
    said(net, "s1", f"sysctl -qw net.ipv4.tcp_max_orphans={was}")
    said(net, "s2", "tc qdisc del dev s2-eth3 root")
    for job in held:
        job.stop()
    assert reset == 1


def chosen(net, router):
    """The ways of a router, of two equal ones, for flows of 20 ports."""
    ask = "ip -o route get 10.7.0.1 from 10.0.0.2 iif {}-eth0 ipproto udp sport $port dport 9"
    shown = said(net, router, f"for port in {{1..20}}; do {ask.format(router)}; done")
    return re.findall("dev (d[12])", shown)


def test_routers_choose_of_equal_ways_by_a_number_of_their_own_unless_it_is_typed(net):
    for router in ("r1", "r2"):
        made = [
            f"ip link add {device} type dummy; ip link set {device} up; ip addr add {net_}.1/24"
            f" dev {device}"
            for device, net_ in (("d1", "10.8.0"), ("d2", "10.9.0"))
        ]
        ways = "ip route add 10.7.0.0/16 nexthop via 10.8.0.2 nexthop via 10.9.0.2"
        policy = "sysctl -qw net.ipv4.fib_multipath_hash_policy=1"
        said(net, router, "; ".join([*made, ways, policy]))
    first, second = chosen(net, "r1"), chosen(net, "r2")
    assert len(first) == 20 and len(set(first)) == 2
    alike = sum(one == other for one, other in zip(first, second, strict=True))
    assert 4 <= alike <= 16  # 10 of 20 where both draw; less or more once in 400 numbers
    for router in ("r1", "r2"):
        said(net, router, "sysctl -qw net.ipv4.fib_multipath_hash_seed=7")
    assert chosen(net, "r1") == chosen(net, "r2") != first


def test_losses_do_not_follow_what_others_draw(net):
    """netem draws from a generator of its own."""
    netem = "tc qdisc replace dev r1-eth1 root netem loss 20% seed 7"
    answered = []
    for beside in ("true", "head -c 999999 /dev/urandom | sha1sum"):
        said(net, "r1", "tc qdisc del dev r1-eth1 root; " + netem)
        said(net, "h3", beside)
        shown = said(net, "h1", "ping -n -i 0.01 -c 100 10.0.2.2 || true")
        answered.append(re.findall(r"icmp_seq=(\d+)", shown))
    said(net, "r1", "tc qdisc del dev r1-eth1 root")
    assert answered[0] == answered[1] and 60 < len(answered[0]) < 95


ECHO = """
    import socket
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.bind(("", 7))
    for _ in range(200):
        data, whose = line.recvfrom(99)
        line.sendto(data, whose)
"""
ASK = """
    import socket, time
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.connect(("10.0.2.2", 7))
    took_us = []
    for _ in range(100):
        began = time.monotonic()
        line.send(b"-")
        line.recv(9)
        took_us.append(1e6 * (time.monotonic() - began))
        time.sleep(0.0005)
    took_us.sort()
    print("took", took_us[50], took_us[90], took_us[-1])
"""
BUSY = """
    import os
    while True:
        os.getppid()
"""


def test_programs_wait_for_each_other_and_packets_do_not(net):
    """There is one CPU, on which system calls take their time."""
    begun(net, "h2", script(ECHO))
    quiet = said(net, "h1", script(ASK))
    busy = begun(net, "h3", script(BUSY))
    beside, pings = said(net, "h1", script(ASK)), said(net, "h1", "ping -q -c 20 -i 0.002 10.0.2.2")
    busy.stop()
    assert float(quiet.split()[-1]) < float(beside.split()[-1])
    assert float(re.search("= ([0-9.]+)/([0-9.]+)/([0-9.]+)/", pings)[3]) < 0.1


def test_no_packet_was_dropped_where_no_link_counts_it(net):
    """Of the queue of arriving packets, which is one for all nodes, in all of these tests."""
    arrived, dropped, *_ = said(net, "s1", "cat /proc/net/softnet_stat").split()
    assert int(arrived, 16) > 1000 and int(dropped, 16) == 0


def test_files_processes_and_the_clock_are_everybodys(net):
    said(net, "h3", "echo kept > /tmp/of-h3")
    begun(net, "h3", "sleep 60")
    assert "kept" in said(net, "h1", "cat /tmp/of-h3; rm /tmp/of-h3")
    assert "sleep 60" in said(net, "h1", "pgrep -a sleep; pkill sleep")
    assert "sleep 60" not in said(net, "h3", "pgrep -a sleep; true")
    refused = said(net, "h1", "date -s 2030-01-01; hostname other; true")
    assert "cannot set date" in refused and "must be root" in refused


def test_a_switch_does_not_see_what_a_host_gave_its_packet(net):
    """Its priority, by which pfifo_fast would choose a band."""
    said(net, "s1", "tc qdisc add dev s1-eth3 root handle 9: prio")
    said(net, "h1", "ping -q -c 20 -i 0.01 -Q 0x10 10.0.2.2")
    shown = said(net, "s1", "tc -s class show dev s1-eth3; tc qdisc del dev s1-eth3 root")
    sent = [int(n) for n in re.findall(r"Sent \d+ bytes (\d+) pkt", shown)]
    assert len(sent) == 3 and sent[0] == 0 and sent[1] >= 20, shown
