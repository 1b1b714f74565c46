# An upgrade with apps: a command that runs, and one that links the library of libswift-offstage-dev
# and is suspended. All later parts try the later version.
check 'the package of the library installs' \
    install /opt/test/.build/deb/libswift-offstage-dev_*.deb
check 'with what its C sources need' pkg-config --exists libsystemd
as_user offstage new app begun >/dev/null
library=$(sed -n 's/.*path: "\(.*swift\)".*/\1/p' "/home/$user/begun/Package.swift")
check 'an app that is begun here names it' test "$library" = /usr/share/offstage/swift
check 'its files are those that the app of this test was built with' \
    diff -r "$library" /opt/test/library

as_user cp /opt/test/headlines.desktop .local/share/applications/
linked() { pgrep -u "$user" -x headlines; }
said() { offstage logs headlines | grep -qx "$1"; }
suspended() { is_frozen "$(linked)"; }
offstage open headlines
check 'the app that links the library is opened' wait_for said launched
app=$(linked)
offstage leave headlines
check 'it hears that it was left' wait_for said 'asked for a refresh'
check 'and is suspended' wait_for suspended

hint Idle true
submit task 307
check 'a command runs' wait_for runs 307
before=$(runs 307)
first=$(daemon)
visited=$(visits) visiting=$(visiting) secluded=$(secluded)
version() { dpkg-query --show --showformat '${Version}' offstage; }
earlier=$(version)
check "a later package installs (over $earlier)" install /opt/test/later/offstage_*.deb
check "which is later ($(version))" dpkg --compare-versions "$(version)" gt "$earlier"
is_another() { daemon | grep -qvx "$first"; }
check 'an upgrade restarts the daemon' wait_for is_another
check 'from its program' test "$(readlink "/proc/$(daemon)/exe")" = /usr/bin/offstaged
check 'which leaves the command running' test "$(runs 307)" = "$before"
check 'and knows it' wait_for explains task running
check 'it leaves the other app suspended' suspended
offstage open headlines
check 'which can be opened again' wait_for not suspended
check 'in the same process' test "$(linked)" = "$app"
offstage close headlines
check 'and closed' wait_for not linked
offstage cancel command.task >/dev/null
hint Idle false

check 'a daemon that no systemd has started goes on' test "$(visiting)" = "$visiting"
check 'and so does its command' test "$(visits)" = "$visited"
check 'and one without a bus of a session' test "$(secluded)" = "$secluded"
told() { grep -c "^offstage: $1 still runs the earlier version (process $2)" /opt/test/apt; }
check 'the administrator is told whose they are' test "$(told "$visitor" "$visiting")" = 1
check 'of both' test "$(told "$hermit" "$secluded")" = 1
check 'and is told of no other' test "$(told '[^ ]*' '[0-9]*')" = 2
as_visitor offstage cancel command.visit >/dev/null
