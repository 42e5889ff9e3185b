#!/bin/bash
# A jail's first process: mount what Python needs, then hand over to the warden.
export PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8
for folder in /run /var /root; do mount -t tmpfs -o size=1m tmpfs $folder; done
mount -t tmpfs -o size=64m,nr_inodes=4096,nosuid,nodev tmpfs /tmp
mkdir /dev/shm
mount -t tmpfs -o size=16m,nr_inodes=1024,nosuid,nodev tmpfs /dev/shm
mkdir /run/python /run/netlab
mount -t hostfs -o hostfs=p none /run/python    # both read-only
mount -t hostfs -o hostfs=n none /run/netlab
mount --bind /etc/cpuinfo /proc/cpuinfo         # the real one shows the host's name, kernel and CPU flags
hostname jail
sysctl -qw vm.panic_on_oom=1 kernel.panic=-1 kernel.threads-max=500 kernel.dmesg_restrict=1
exec >/dev/console 2>&1
mkdir -p /run/warden/netlab/engines
ln -s /job/agent.py /run/warden/netlab/engines/
PYTHONPATH=/run/warden python3 -B /job/warden.py </dev/null
echo "the warden ended with status $?"
python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
