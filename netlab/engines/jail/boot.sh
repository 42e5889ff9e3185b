#!/bin/bash
# A jail's first process: mount what Python needs, then hand over to the warden.
export PATH=/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8
mount --all --fstab /job/fstab  # one process, which starts in 7 ms
cd /proc/sys/kernel
echo jail > hostname
echo 1 > ../vm/panic_on_oom
echo 1 > dmesg_restrict
echo -1 > panic
echo 500 > threads-max
exec >/dev/console 2>&1
mkdir -p /run/warden/netlab/engines
ln -s /job/agent.py /run/warden/netlab/engines/
PYTHONPATH=/run/warden python3 -BSs /job/warden.py </dev/null
echo "the warden ended with status $?"
python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'
