#!/bin/bash
# The guest's first process, once its root file system is there: mount what programs expect, then hand over to the agent.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8
mount -t sysfs sys /sys
for folder in /run /tmp /var /root; do mount -t tmpfs tmpfs $folder; done
mkdir -p /dev/pts /dev/shm /var/log /var/run /var/tmp /var/lib
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
ln -sf /proc/self/fd /dev/fd
mount -o remount,bind,ro /dev
mount --bind /etc/cpuinfo /proc/cpuinfo         # the real one shows the host's name, kernel and CPU flags
hostname netlab
ip link set lo up
# Sized from the guest's memory otherwise, and then far too small for 10 Gbit/s; these are global, so set here and not on a host.
sysctl -qw net.ipv4.tcp_mem='1048576 1048576 1048576' net.ipv4.udp_mem='1048576 1048576 1048576' net.ipv4.tcp_max_orphans=1000000
# All nodes share one queue of arriving packets and one table of neighbours: neither may be what limits them.
neighbours='default.gc_thresh1=1000000 default.gc_thresh2=1000000 default.gc_thresh3=1000000'
sysctl -qw net.core.netdev_max_backlog=1000000 ${neighbours//default/net.ipv4.neigh.default} ${neighbours//default/net.ipv6.neigh.default}
# Each program is a process of the host's, too.
sysctl -qw vm.panic_on_oom=1 kernel.panic=-1 kernel.threads-max=2000
cd /root
exec >/dev/console 2>&1
python3 -B /job/agent.py </dev/null
echo "the agent ended with status $?"
python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
