#!/bin/sh
# The first process of a machine: from its initial file system to its disk, and there to the server at the end of its line.
if [ -e /virtio_blk.ko ]; then
  mount -t devtmpfs dev /dev
  insmod /virtio_blk.ko
  mount -t ext4 -o ro /dev/vda /disk
  mount --move /dev /disk/dev
  exec switch_root /disk /boot.sh
fi
exec </dev/null >/dev/console 2>&1
mount -t proc proc /proc
mount -t sysfs sys /sys
for folder in /tmp /run /root; do mount -t tmpfs tmpfs $folder; done
mkdir /dev/shm
mount -t tmpfs -o size=90% tmpfs /dev/shm
# the engine, in a cache that keeps what was found out about its files
for folder in /cache/*/; do
  mkdir -p /run$folder
  mount --bind $folder /run$folder
done
cp /cache/engine.json /cache/CACHEDIR.TAG /run/cache
export PATH=/python/bin:/bin HOME=/root LANG=C.UTF-8 NETLAB_CACHE=/run/cache PYTHONHOME=/python PYTHONPATH=/:/python/site
export NETLAB_SLOWER=50 # a run takes 24 to 56 times the CPU time that it takes outside
python3 -m netlab engine serve <>/dev/vport0p1 >&0
poweroff -f
