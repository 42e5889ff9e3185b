"""What a link does to a frame: delay, serialisation, tbf's bucket, netem's chances."""

import functools

import netlab as nl
from tests.validation import answer


@functools.cache
def idle_pings(seed):
    run = nl.run(nl.wan("100mbit", "20ms"), nl.Ping("h1", "h2", count=20), seed=seed)
    return run.pings.rtt_s[run.pings.seq > 1]


@answer("mean RTT of pings over 20 ms each way, idle", "arithmetic: 2 · 20 ms", 40, 0.05, "ms")
def idle_ping(seed):
    return 1000 * idle_pings(seed).mean()
