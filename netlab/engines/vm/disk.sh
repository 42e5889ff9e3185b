#!/bin/bash
# In the folder $1, of debian/ (unpacked packages) and disk/ (python, netlab, cache): vm/ with vmlinuz, initrd and disk.img. $2 is the first process.
set -eo pipefail
cd "$1"
busybox=debian/usr/bin/busybox
mkdir -p vm start/{bin,dev,disk} disk/{bin,dev,doc,etc,lib,proc,root,run,sys,tmp}
cp debian/boot/vmlinuz-* vm/vmlinuz
xz -dc debian/usr/lib/modules/*/kernel/drivers/block/virtio_blk.ko.xz >start/virtio_blk.ko
for place in start disk; do
  cp $busybox $place/bin/
  for name in $($busybox --list | grep -vx busybox); do ln -s busybox $place/bin/$name; done
done
cp "$(command -v setarch)" disk/bin/
install -m 755 "$2" start/init
install -m 755 "$2" disk/boot.sh
(cd start && find . | ../$busybox cpio -o -H newc | gzip -9) >vm/initrd
# one C library for all, where programs look for it
ln -s /python/lib64 disk/lib64
ln -s /python/lib64 disk/lib/x86_64-linux-gnu
for licence in debian/usr/share/doc/*/copyright; do cp $licence disk/doc/$(basename $(dirname $licence)); done
chmod -R a+rX disk
truncate -s $(($(du -sm --apparent-size disk | cut -f1) * 11 / 10 + 16))M vm/disk.img
PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -d disk -O ^has_journal -m 0 vm/disk.img
