# A session without systemd, of a user who has no manager there: its message bus, and the entries of
# its autostart, started as a desktop does.
visitor=visitor
useradd --create-home --shell /bin/bash "$visitor"
visitors=/run/$visitor
# NAME RUNTIME COMMAND…: with nothing that a login would bring.
as_guest() {
    setpriv --reuid "$1" --regid "$1" --init-groups env -i -C "/home/$1" HOME="/home/$1" USER="$1" \
        XDG_RUNTIME_DIR="$2" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 "${@:3}"
}
as_visitor() { as_guest "$visitor" "$visitors" "$@"; }
visiting() { pgrep -u "$visitor" -f '^/usr/bin/offstaged$'; }
command install -d -o "$visitor" -g "$visitor" -m 700 "$visitors"
# What the tutorial says.
entry=/home/$visitor/.config/autostart/offstaged.desktop
as_visitor mkdir -p "${entry%/*}"
as_visitor cp /usr/share/offstage/autostart/offstaged.desktop "$entry"
# As desktops have it, by GLib: an entry whose TryExec= is not there is none.
cat >/opt/test/autostart <<'SESSION'
import sys, gi
gi.require_version("Gio", "2.0")
from gi.repository import Gio
try:
    print("started" if Gio.DesktopAppInfo.new_from_filename(sys.argv[1]).launch([], None) else "no")
except TypeError:
    print("nothing to start")
SESSION
as_visitor dbus-run-session sh -c "python3 /opt/test/autostart $entry; exec sleep infinity" \
    >/dev/null 2>&1 &
check 'without systemd the autostart starts the daemon' wait_for visiting
check 'of a user who has no manager' not pgrep -u "$visitor" -x systemd
check 'it answers' wait_for as_visitor offstage status
as_visitor offstage set idle on
as_visitor offstage submit --refresh --id note -- touch "/home/$visitor/noted" >/dev/null
check 'and runs a command' wait_for test -e "/home/$visitor/noted"
test -e "/home/$visitor/noted" || as_visitor offstage explain command.note
as_visitor offstage submit --processing --id visit -- sh -c 'exec sleep 309' >/dev/null
visits() { pgrep -u "$visitor" -f '^sleep 309$'; }
check 'and a longer one' wait_for visits

# Who has systemd gets no second daemon of the same entry.
as_user mkdir -p .config/autostart
as_user cp /usr/share/offstage/autostart/offstaged.desktop .config/autostart/
# Where there is such an entry without X-systemd-skip, it is seen.
sed /^X-systemd-skip/d /usr/share/offstage/autostart/offstaged.desktop |
    as_user tee .config/autostart/other.desktop >/dev/null
generated() {
    as_user mkdir -p generated/{1,2,3}
    as_user /usr/lib/systemd/user-generators/systemd-xdg-autostart-generator generated/{1,2,3}
    (cd "/home/$user/generated" && find . -name 'app-*.service' ! -path '*.wants/*' -printf '%f\n')
}
check 'where systemd runs the session, it starts nothing by the entry' \
    test "$(generated)" = app-other@autostart.service
first=$(daemon)
# A desktop that starts it nevertheless: its program ends by itself.
as_user offstaged >/opt/test/second 2>&1
check 'a second daemon does not stay' grep -q 'another daemon' /opt/test/second
goes_on() { offstage status >/dev/null; }
check 'and the first one goes on' goes_on
check 'in the same process' test "$(daemon)" = "$first"
as_user rm -r .config/autostart generated

# A daemon of a session without any bus.
hermit=hermit
useradd --create-home --shell /bin/bash "$hermit"
command install -d -o "$hermit" -g "$hermit" -m 700 "/run/$hermit"
as_guest "$hermit" "/run/$hermit" offstaged &
secluded() { pgrep -u "$hermit" -x offstaged; }
check 'a daemon runs without any bus of a session' \
    wait_for as_guest "$hermit" "/run/$hermit" offstage status
