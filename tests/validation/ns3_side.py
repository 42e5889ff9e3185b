"""What ns-3 says to some of the known answers, with its own links, queues and TCP: prints JSON, its
version and values by their names.

A Python runs it that has ns-3's package (`pip install ns3 numpy`), which netlab does not need:
`python -m tests.validation --ns3 PYTHON`.

Its lines have headers of 2 bytes, so their packets have 1512 bytes where a frame of 1514 is meant.
Its TCP's smallest RTO is set to 200 ms, Linux's, where no answer says otherwise. It has no seeds
here: there is one run, in which the random numbers are ns-3's first.
"""

import importlib.metadata
import itertools
import json
import math

import numpy as np
from ns import ns

SEEN = """
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/internet-module.h"
#include "ns3/internet-apps-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/applications-module.h"
#include "ns3/traffic-control-module.h"
using namespace ns3;

// What the simulation tells: times [s], and values
std::vector<double> rtts_s, sent_s, sent_bytes, received_s, window_s, window, waited_s, waits_s,
    dropped_s;
double state = 0;
std::vector<double> states;

double now() { return Simulator::Now().GetSeconds(); }
void toldRtt(uint16_t, Time rtt) { rtts_s.push_back(rtt.GetSeconds()); }
void toldSent(Ptr<const Packet> one)
{
    sent_s.push_back(now());
    sent_bytes.push_back(one->GetSize());
}
void toldReceived(Ptr<const Packet>) { received_s.push_back(now()); }
using State = TcpSocketState::TcpCongState_t;
void toldState(State, State after) { state = after; }
void toldWindow(uint32_t, uint32_t after)
{
    window_s.push_back(now());
    window.push_back(after / 1448.0);
    states.push_back(state);
}
void toldWait(Time wait) { waits_s.push_back(now()); waited_s.push_back(wait.GetSeconds()); }
void toldDrop(Ptr<const QueueDiscItem>) { dropped_s.push_back(now()); }

void forget()
{
    Simulator::Destroy();
    for (auto* one : {&rtts_s, &sent_s, &sent_bytes, &received_s, &window_s, &window, &waited_s,
                      &waits_s, &dropped_s, &states})
        one->clear();
    state = 0;
}

// A line from a to b: a rate there, none back; half of the RTT each way
NetDeviceContainer line(Ptr<Node> a, Ptr<Node> b, std::string rate, double rtt_s)
{
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", StringValue(rate));
    helper.SetChannelAttribute("Delay", TimeValue(Seconds(rtt_s / 2)));
    auto devices = helper.Install(a, b);
    devices.Get(1)->SetAttribute("DataRate", StringValue("100Gbps"));
    for (int end : {0, 1})
        devices.Get(end)->SetMtu(1512);
    return devices;
}

void ping(std::vector<std::string> rates, double rtt_s, uint32_t ip_bytes)
{
    forget();
    NodeContainer nodes(rates.size() + 1);
    InternetStackHelper().Install(nodes);
    Ipv4Address last;
    for (size_t n = 0; n < rates.size(); n++)
    {
        Ipv4AddressHelper address(("10.1." + std::to_string(n) + ".0").c_str(), "255.255.255.0");
        last = address.Assign(line(nodes.Get(n), nodes.Get(n + 1), rates[n], rtt_s)).GetAddress(1);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    auto app = CreateObject<Ping>();
    app->SetAttribute("Destination", AddressValue(last));
    app->SetAttribute("Size", UintegerValue(ip_bytes - 28));
    app->SetAttribute("Count", UintegerValue(19));
    app->SetAttribute("VerboseMode", EnumValue(Ping::SILENT));
    app->TraceConnectWithoutContext("Rtt", MakeCallback(&toldRtt));
    nodes.Get(0)->AddApplication(app);
    Simulator::Stop(Seconds(30));
    Simulator::Run();
}

// Datagrams over a line with a queueing discipline, behind which a share of them is lost
void datagrams(std::string rate, std::string discipline, uint32_t ip_bytes, uint32_t count,
               double every_s, double loss)
{
    forget();
    Config::SetDefault("ns3::FifoQueueDisc::MaxSize", StringValue("10p"));
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    auto devices = line(nodes.Get(0), nodes.Get(1), rate, 0);
    DynamicCast<PointToPointNetDevice>(devices.Get(0))
        ->GetQueue()->SetAttribute("MaxSize", StringValue("1p"));
    TrafficControlHelper control;
    control.SetRootQueueDisc(discipline);
    auto queue = control.Install(devices.Get(0)).Get(0);
    queue->TraceConnectWithoutContext("SojournTime", MakeCallback(&toldWait));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&toldDrop));
    auto loses = CreateObject<RateErrorModel>();
    loses->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    loses->SetRate(loss);
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loses));
    devices.Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&toldReceived));
    auto there = Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(devices).GetAddress(1);
    UdpClientHelper client(there, 9);
    client.SetAttribute("MaxPackets", UintegerValue(count));
    client.SetAttribute("Interval", TimeValue(Seconds(every_s)));
    client.SetAttribute("PacketSize", UintegerValue(ip_bytes - 28));
    client.Install(nodes.Get(0));
    UdpServerHelper(9).Install(nodes.Get(1));
    Simulator::Stop(Seconds(count * every_s + 2));
    Simulator::Run();
}

void lookAtWindow(Ptr<BulkSendApplication> app)
{
    app->GetSocket()->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&toldWindow));
    app->GetSocket()->TraceConnectWithoutContext("CongState", MakeCallback(&toldState));
}

// A TCP flow of so many bytes (0: as long as it lasts) over a line without a rate, which loses
// these packets, counted from the SYN, 0, or a share of all. Received from second 5 on. [byte]
double tcp(std::string congestion, double rtt_s, double time_s, uint64_t bytes,
           std::vector<uint32_t> lost, double loss, uint32_t segments_per_ack, double least_rto_s,
           bool scaled)
{
    forget();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName("ns3::" + congestion)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(segments_per_ack));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(least_rto_s)));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(scaled));
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    auto devices = line(nodes.Get(0), nodes.Get(1), "100Gbps", rtt_s);
    devices.Get(0)->TraceConnectWithoutContext("MacTx", MakeCallback(&toldSent));
    auto list = CreateObject<ReceiveListErrorModel>();
    list->SetList({lost.begin(), lost.end()});
    auto share = CreateObject<RateErrorModel>();
    share->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    share->SetRate(loss);
    Ptr<ErrorModel> loses = share;
    if (!lost.empty())
        loses = list;
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loses));
    auto there = Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(devices).GetAddress(1);
    auto app = CreateObject<BulkSendApplication>();
    app->SetAttribute("Remote", AddressValue(InetSocketAddress(there, 9)));
    app->SetAttribute("SendSize", UintegerValue(1448));
    app->SetAttribute("MaxBytes", UintegerValue(bytes));
    nodes.Get(0)->AddApplication(app);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    auto received = DynamicCast<PacketSink>(sink.Install(nodes.Get(1)).Get(0));
    Simulator::Schedule(Seconds(0.001), &lookAtWindow, app);
    double before = 0;
    Simulator::Schedule(Seconds(5), [&] { before = received->GetTotalRx(); });
    Simulator::Stop(Seconds(time_s));
    Simulator::Run();
    return received->GetTotalRx() - before;
}
"""
REPAIRS = 3  # CA_RECOVERY


def numbers(told):
    return np.array(list(told))


def pings_ms(rates, rtt_s, ip_bytes):
    seen.ping(rates, rtt_s, ip_bytes)
    return 1000 * numbers(seen.rtts_s).mean()


def links():
    yield "links/idle-ping", pings_ms(["100Gbps"], 0.02, 84)
    yield "links/long-ping-over-a-line", pings_ms(["10Mbps"], 0, 1512)
    yield "links/long-ping-over-two-lines", pings_ms(["10Mbps", "20Mbps"], 0, 1512)
    seen.datagrams("100Gbps", "ns3::FifoQueueDisc", 128, 5000, 0.001, 0.05)
    yield "links/loss", 100 * (1 - len(seen.received_s) / 5000)


def queues():
    every_s = 1514 * 8 / 12e6
    seen.datagrams("10Mbps", "ns3::CoDelQueueDisc", 1512, 1000, every_s, 0)
    above_s = numbers(seen.waits_s)[numbers(seen.waited_s) >= 0.005][0]
    dropped_ms = 1000 * numbers(seen.dropped_s)
    yield "queues/codel-first-drop", dropped_ms[0] - 1000 * above_s
    yield "queues/codel-second-drop", dropped_ms[1] - dropped_ms[0]
    yield "queues/codel-tenth-drop", dropped_ms[9] - dropped_ms[0]
    seen.datagrams("10Mbps", "ns3::PieQueueDisc", 1512, 16_000, every_s, 0)
    late = numbers(seen.waits_s) > 6
    yield "queues/pie-target", 1000 * numbers(seen.waited_s)[late].mean()


def tcp(congestion, rtt_s, time_s, lost=(), loss=0.0, size=0, each=2, least_rto_s=0.2, scaled=True):
    """Received from second 5 on [byte], and when segments were sent that are full [s]."""
    got = seen.tcp(congestion, rtt_s, time_s, size, list(lost), loss, each, least_rto_s, scaled)
    return got, numbers(seen.sent_s)[numbers(seen.sent_bytes) > 1000]


def rounds(each):
    _, sent_s = tcp("TcpLinuxReno", 0.02, 0.2, each=each)
    return np.bincount(((sent_s - sent_s[0]) / 0.02 + 0.001).astype(int))


def rto_ms(rtt_s, least_rto_s):
    """Between the first two copies of a single segment: the first is lost, after SYN and ACK."""
    _, sent_s = tcp("TcpLinuxReno", rtt_s, 4, [2], size=1448, least_rto_s=least_rto_s)
    return 1000 * (sent_s[1] - sent_s[0])


def growth():
    segments = rounds(each=1)
    yield "growth/handshake", 1000 * (numbers(seen.sent_s)[2] - numbers(seen.sent_s)[0])
    yield "growth/initial-window", segments[0]
    yield "growth/second-round", segments[1]
    yield "growth/sixth-round", segments[5]
    yield "growth/round-with-delayed-acks", rounds(each=2)[4]
    yield "timers/rto-100ms", rto_ms(0.1, 0.2)
    yield "timers/rto-200ms", rto_ms(0.2, 0.2)
    yield "timers/rto-20ms-no-floor", rto_ms(0.02, 0.001)


def limits():
    got, _ = tcp("TcpCubic", 0.1, 25, each=1, scaled=False)  # an odd one would wait for its ACK
    yield "limits/without-window-scaling", got * 8 / 20 / 1e6
    every_s = 1448 * 8 / 12e6
    count = round(10 / every_s)
    seen.datagrams("10Mbps", "ns3::FifoQueueDisc", 1448 + 28 + 12, count, every_s, 0)
    yield "limits/lost-datagrams", 100 * (1 - len(seen.received_s) / count)


def windows():
    """Times [s], windows [segment] and states."""
    return map(numbers, (seen.window_s, seen.window, seen.states))


def sawtooth(congestion, segments, rtt_s):
    """One of so many segments is lost: goodput [segment/s], growth per round trip, what is left of
    a window after a repair, the time from one repair to the next [s], the mean window.
    """
    got, _ = tcp(congestion, rtt_s, 35, range(segments, 10**6, segments))
    times_s, sizes, states = windows()
    began = np.flatnonzero((states[1:] == REPAIRS) & (states[:-1] != REPAIRS)) + 1
    began = began[times_s[began] > 5]
    slopes, left = [], []
    for first, last in itertools.pairwise(began):
        rows = np.arange(first, last)[states[first:last] != REPAIRS]
        slopes.append(np.polyfit(times_s[rows], sizes[rows], 1)[0])
        left.append(sizes[rows[0] - 1] / sizes[first - 1])
    whole = slice(began[0], began[-1])
    mean = np.average(sizes[whole], weights=np.diff(times_s[whole.start : whole.stop + 1]))
    period_s = np.diff(times_s[began]).mean()
    return got / 30 / 1448, rtt_s * np.mean(slopes), np.mean(left), period_s, mean


def reno():
    segments, rtt_s = 2048, 0.02
    per_s, growth, left, period_s, _ = sawtooth("TcpLinuxReno", segments, rtt_s)
    yield "congestion/reno-increase", growth
    yield "congestion/reno-halving", left
    yield "congestion/reno-period", period_s / rtt_s
    yield "congestion/mathis-periodic", per_s * rtt_s / math.sqrt(segments)
    got, _ = tcp("TcpLinuxReno", rtt_s, 125, loss=0.001)
    times_s, _, states = windows()
    repairs = (states[1:] == REPAIRS) & (states[:-1] != REPAIRS) & (times_s[1:] > 5)
    per_s = got / 120 / 1448
    yield "congestion/mathis-random", per_s * rtt_s * math.sqrt(repairs.sum() / (120 * per_s))


def cubic():
    tcp("TcpCubic", 0.1, 16, [600])
    times_s, sizes, states = windows()
    first = np.flatnonzero(states == REPAIRS)[0]
    after = first + np.flatnonzero(states[first:] != REPAIRS)[0]
    before = sizes[first - 1]
    times_s, sizes = times_s[after:] - times_s[after], sizes[after:]
    low_10, high_10, low_30, high_30 = (
        times_s[np.argmax(sizes >= before + more)] for more in (-10, 10, -30, 30)
    )
    yield "congestion/cubic-beta", sizes[0] / before
    yield "congestion/cubic-k", (low_10 + high_10) / 2 / np.cbrt(0.3 * before / 0.4)
    yield "congestion/cubic-c", 30 / ((high_30 - low_30) / 2) ** 3
    _, growth, _, _, mean = sawtooth("TcpCubic", 4096, 0.02)
    yield "congestion/cubic-alpha", growth
    yield "congestion/cubic-friendly", mean


if __name__ == "__main__":
    ns.cppyy.cppdef(SEEN)
    seen = ns.cppyy.gbl
    found, version = {}, importlib.metadata.version("ns3").partition(".post")[0]
    for topic in (links, queues, growth, limits, reno, cubic):
        found |= {name: float(f"{value:.6g}") for name, value in topic()}
    print(json.dumps({"version": f"ns-3 {version}", "values": found}))
