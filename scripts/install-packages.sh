#!/bin/sh
# Installs the Debian packages of packages.txt that are missing (root); without root it says what is skipped.
set -eu
here=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")

if ! command -v dpkg-query >/dev/null; then
    echo "install-packages: not a Debian-like system, nothing installed" >&2
    exit 0
fi
missing=
while read -r package _; do
    case $package in '' | '#'*) continue ;; esac
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done <"$here/packages.txt"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
    echo "install-packages: not root, so these are skipped and what needs them will not run:$missing" >&2
    exit 0
fi
echo "install-packages: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# Tests and runs start their own: as services they would listen beside them, sshd on every network.
for service in openssh-server:ssh pgbouncer:pgbouncer pgpool2:pgpool2 haproxy:haproxy; do
    case $missing in *"${service%:*}"*) ;; *) continue ;; esac
    unit=${service#*:}
    echo "install-packages: $unit is not started as a service; if you want it: systemctl unmask $unit" >&2
    mkdir -p /etc/systemd/system
    for file in "$unit.service" "$unit.socket"; do
        [ -e "/etc/systemd/system/$file" ] || ln -s /dev/null "/etc/systemd/system/$file"
    done
done
apt-get update -qq >&2
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing >&2
