# What the parts of the test share (scripts/test-deb). They run in this order, as root.
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
user=tester
wait_for() { for _ in $(seq 150); do "$@" >/dev/null 2>&1 && return 0; sleep 0.2; done; return 1; }
not() { ! "$@"; }
check() { if "${@:2}"; then echo "ok   $1"; else echo "FAIL $1"; fi; }
install() { apt-get install -y --no-install-recommends "$@" >>/opt/test/apt 2>&1; }

mkdir -p /var/log/journal
systemd-tmpfiles --create --prefix /var/log/journal
journalctl --flush
useradd --create-home --shell /bin/bash "$user"
uid=$(id -u "$user")
# As a login does it: the user's manager, and a session on the screen, until it is closed.
log_in() {
    systemd-run --quiet --unit=screen -p User="$user" -p PAMName=login -p StandardInput=null \
        -E XDG_SESSION_TYPE=wayland -E XDG_SESSION_CLASS=user /opt/test/follow
}
session() { loginctl list-sessions --no-legend | awk -v user="$user" '$3 == user { print $1 }'; }
has_session() { [ -n "$(session)" ]; }
# As the desktop says it, in the name of the session.
hint() {
    busctl call org.freedesktop.login1 "$(busctl call org.freedesktop.login1 \
        /org/freedesktop/login1 org.freedesktop.login1.Manager GetSession s "$(session)" |
        cut -d '"' -f 2)" org.freedesktop.login1.Session "Set$1Hint" b "$2"
}
as_user() {
    setpriv --reuid "$uid" --regid "$uid" --clear-groups env -C "/home/$user" \
        HOME="/home/$user" USER="$user" XDG_RUNTIME_DIR="/run/user/$uid" \
        DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$uid/bus" PATH=/usr/bin:/bin \
        LC_ALL=C.UTF-8 "$@"
}
offstage() { as_user offstage "$@"; }
daemon() { pgrep -u "$user" -x offstaged; }
# CONDITION VALUE SOURCE: a row of `offstage conditions`.
is() {
    offstage conditions | awk -F '  +' -v row="$1" '$1 == row { print $2, $3 }' |
        grep -qx "$2 $3"
}

# ID SECONDS NEED…: submits processing that sleeps.
submit() {
    offstage submit --processing --id "$1" "${@:3}" -- sh -c "exec sleep $2" >/dev/null
}
runs() { pgrep -u "$user" -f "^sleep $1\$"; }
# Whether the reasons that are given for what waits, or for what ended, have these words.
explains() { grep -q "$2" <<<"$(offstage explain "command.$1")"; }
recorded() { grep -q "$2" <<<"$(offstage history "command.$1")"; }
# NAME ID SECONDS GATE REASON: what runs has ended, and both reasons are given.
check_held() {
    check "$1" wait_for not runs "$3"
    check "  explain: $4" wait_for explains "$2" "$4"
    check "  history: $5" wait_for recorded "$2" "$5"
    explains "$2" "$4" && recorded "$2" "$5" ||
        { offstage explain "command.$2"; offstage history "command.$2"; }
}
group_of() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }
is_frozen() { grep -q '^frozen 1$' "/sys/fs/cgroup$(group_of "$1")/cgroup.events"; }

# FILE HEADING N: the nth block of what is to be typed below a heading.
block() {
    awk -v heading="$2" -v n="$3" '/^#/ { on = $0 ~ "^#+ " heading "$"; was = 0; found = 0 }
        { is = /^    / } on && is && !was { found++ } { was = is }
        on && is && found == n { print substr($0, 5) }' "/opt/test/$1"
}
# HEADING: types the tutorial's lines with a prompt below it: `#` is root's, `$` the user's.
type_below() {
    local line status=0
    while IFS= read -r line; do
        echo "-- $line"
        case $line in
        # That has been done where the toolchain is.
        '$ make deb') ;;
        '# '*) (cd /opt/test && bash -ec "${line#\# }") >>/opt/test/apt 2>&1 || status=1 ;;
        '$ '*) as_user bash -ec "${line#\$ }" || status=1 ;;
        esac </dev/null
    done < <(awk -v heading="## $1" '/^##/ { below = $0 == heading }
        /^```/ { on = below && $0 == "```console"; next } on' /opt/test/laptop.md)
    return "$status"
}
