"""What the simulator ns-3 says of flows that share 100 Mbit/s: it made referee.csv, next to this.

Each flow goes from a host of its own to another one, through one link of 10 ms each way with a
queue of 250,000 bytes that drops what does not fit. Flows start within the first 0.1 s, as the seed
says.

    pip install ns3==3.44.post0
    python referee_ns3.py > referee.csv
"""

import random
import subprocess
import sys
from pathlib import Path

ALGORITHMS = {"reno": "ns3::TcpLinuxReno", "cubic": "ns3::TcpCubic"}
SECONDS, SEEDS = 20, range(1, 9)
COLUMNS = "version,flows,congestion,rate_bps,rtt_s,queue_bytes,time_s,seed,jain_index,received_mbps"


def simulate(congestion, flows, seed):
    """Bits per second that each flow's receiver got."""
    import cppyy
    from ns import ns

    def default(name, value):
        ns.Config.SetDefault(f"ns3::{name}", value)

    default("TcpL4Protocol::SocketType", ns.StringValue(ALGORITHMS[congestion]))
    default("TcpSocket::SegmentSize", ns.UintegerValue(1448))
    default("TcpSocket::InitialCwnd", ns.UintegerValue(10))
    for buffer in ("SndBufSize", "RcvBufSize"):
        default(f"TcpSocket::{buffer}", ns.UintegerValue(64 << 20))
    # a sink's counter, which Python cannot reach through a pointer to an application
    cppyy.cppdef(
        "uint64_t total_rx(ns3::Ptr<ns3::Application> a)"
        "{return ns3::DynamicCast<ns3::PacketSink>(a)->GetTotalRx();}"
    )
    nodes = ns.NodeContainer()
    nodes.Create(2 + 2 * flows)  # two routers, then a sender and a receiver for each flow
    ns.InternetStackHelper().Install(nodes)

    def link(a, b, rate, delay, queue):
        helper = ns.PointToPointHelper()
        helper.SetDeviceAttribute("DataRate", ns.StringValue(rate))
        helper.SetChannelAttribute("Delay", ns.StringValue(delay))
        size = ns.QueueSizeValue(ns.QueueSize(queue))
        helper.SetQueue("ns3::DropTailQueue", "MaxSize", size)
        ends = ns.NodeContainer()
        ends.Add(nodes.Get(a))
        ends.Add(nodes.Get(b))
        return helper.Install(ends)

    links = [link(0, 1, "100Mbps", "10ms", "250000B")]
    for host in range(2, 2 + 2 * flows, 2):
        links.append(link(host, 0, "100Gbps", "1ns", "100000p"))
        links.append(link(host + 1, 1, "100Gbps", "1ns", "100000p"))
    addresses, interfaces, control = ns.Ipv4AddressHelper(), [], ns.TrafficControlHelper()
    for number, devices in enumerate(links, 1):
        subnet, mask = ns.Ipv4Address(f"10.1.{number}.0"), ns.Ipv4Mask("255.255.255.0")
        addresses.SetBase(subnet, mask)
        interfaces.append(addresses.Assign(devices))
    for devices in links:  # ns-3 puts another queue before each device: away with it
        control.Uninstall(devices)
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()
    draw, sinks = random.Random(seed), []
    for flow in range(flows):
        anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 5000).ConvertTo()
        sink = ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere)
        sinks.append(sink.Install(nodes.Get(3 + 2 * flow)))
        there = ns.InetSocketAddress(interfaces[2 + 2 * flow].GetAddress(0), 5000).ConvertTo()
        source = ns.BulkSendHelper("ns3::TcpSocketFactory", there)
        source.SetAttribute("MaxBytes", ns.UintegerValue(0))  # without end
        source.SetAttribute("SendSize", ns.UintegerValue(44 * 1448))
        source.Install(nodes.Get(2 + 2 * flow)).Start(ns.Seconds(0.1 * draw.random()))
    ns.Simulator.Stop(ns.Seconds(SECONDS + 0.1))
    ns.Simulator.Run()
    return [cppyy.gbl.total_rx(sink.Get(0)) * 8 / SECONDS for sink in sinks]


def line(congestion, flows, seed):
    """A row of the table; each simulation is a process of its own."""
    from importlib.metadata import version

    bps = simulate(congestion, flows, seed)
    index = sum(bps) ** 2 / (flows * sum(one**2 for one in bps))
    setting = f"{flows},{congestion},100000000,0.02,250000,{SECONDS},{seed}"
    return f"ns-3 {version('ns3')},{setting},{index:.5f},{sum(bps) / 1e6:.2f}"


if __name__ == "__main__":
    if sys.argv[1:]:
        name, flows, seed = sys.argv[1:]
        print(line(name, int(flows), int(seed)))
    else:
        print(COLUMNS, flush=True)
        for name, flows in (("reno", 2), ("cubic", 2), ("cubic", 8)):
            for seed in SEEDS:
                one = [sys.executable, Path(__file__), name, str(flows), str(seed)]
                subprocess.run(one, check=True, stderr=subprocess.DEVNULL)
