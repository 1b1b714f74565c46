# The tutorial, word by word, on a network that leads to a stand-in for the Internet.
check 'apt installs what the tutorial says' type_below Install
has() { dpkg-query -W -f '${Status}\n' "$@" | grep -vqx 'install ok installed' && return 1; true; }
check 'with the services that it recommends, and newsboat' \
    has offstage polkitd upower dbus-user-session newsboat
check 'a machine is asked for no other network manager' \
    not grep -q network-manager <(dpkg-query -W -f '${Depends} ${Recommends}' offstage)
check 'no daemon is started by that' test -z "$(pgrep -x offstaged)"
check 'the files that the tutorial names are there' \
    ls $(grep -o '`/usr/[^`]*`' /opt/test/laptop.md | tr -d '`')

# On the other side of the cable is what a portal would be, or is not.
ip netns add internet
ip link add net0 type veth peer name net1 netns internet
ip -n internet link set lo up
ip -n internet link set net1 up
ip -n internet address add 192.0.2.2/24 dev net1
cat >/opt/test/internet <<'SERVER'
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        portal = os.path.exists("/opt/test/portal")
        self.send_response(302 if portal else 200)
        if portal: self.send_header("Location", "http://192.0.2.2/sign-in")
        self.end_headers()
        if not portal: self.wfile.write(b"NetworkManager is online\n")
    def log_message(self, *_): pass
http.server.HTTPServer(("192.0.2.2", 80), Handler).serve_forever()
SERVER
ip netns exec internet python3 /opt/test/internet &
listens() { ip netns exec internet ss -Htln '( sport = :80 )' | grep -q .; }
wait_for listens
nmcli device set net0 managed yes
nmcli connection add type ethernet ifname net0 con-name net ipv4.method manual \
    ipv4.addresses 192.0.2.1/24 ipv4.gateway 192.0.2.2 ipv6.method disabled >/dev/null
nmcli connection up net || { nmcli device; journalctl -b --no-pager -u NetworkManager | tail -30; }
online() { [ "$(nmcli networking connectivity check)" = full ]; }
check 'NetworkManager finds that the network leads to the Internet' wait_for online
# What the tutorial's feed is on this machine.
cat >/opt/test/feed.xml <<FEED
<rss version="2.0"><channel><title>Planet</title><link>http://planet.example/</link>
<item><title>First post</title><link>http://planet.example/1</link></item></channel></rss>
FEED
sed -i 's|https://planet.debian.org/rss20.xml|file:///opt/test/feed.xml|' /opt/test/laptop.md

# Each block of the tutorial, as the user types it.
awk '/^```sh$/ { on = 1; n++; next } /^```$/ { on = 0 } on { print > "/opt/test/step" n }' \
    /opt/test/laptop.md
# The user's session on the screen.
cat >/opt/test/follow <<'FOLLOW'
#!/bin/bash
cd
# The last step leaves no pause.
for step in $(ls /opt/test/step* | sort -V); do
    bash -e "$step" >"/tmp/${step##*/}.out" 2>&1
    echo "$?" >"/tmp/${step##*/}.status"
done
touch /tmp/followed
exec sleep infinity
FOLLOW
chmod +x /opt/test/follow
log_in
check 'the user logs in' wait_for has_session
check 'and follows the tutorial' wait_for test -e /tmp/followed
for step in $(ls /opt/test/step* | sort -V); do
    name=/tmp/${step##*/}
    echo "-- step: $(head -n 1 "$step") (exit $(cat "$name.status"))"
    sed 's/^/     /' "$name.out" | head -n 30
    [ "$(cat "$name.status")" = 0 ] || echo "FAIL step: $(head -n 1 "$step")"
done
check 'the daemon runs' daemon
check 'newsboat has the article' grep -qa 'First post' "/home/$user/.newsboat/cache.db"
knows() { grep -q "$1" <<<"$(offstage doctor)"; }
check 'doctor knows who keeps the machine awake' knows 'during a run: logind.s idle inhibitor'
check 'and what is missing to wake it' knows 'waking the machine: not possible: no real-time clock'
check 'the journal has the run by its app' \
    grep -q 'newsboat' <(journalctl --no-pager APP=newsboat -o cat)
check 'with its task and the reason for its result' python3 - <<'FIELDS'
import json
import subprocess

lines = subprocess.check_output(
    ["journalctl", "--no-pager", "APP=newsboat", "-o", "json"], text=True
).splitlines()
runs = [run for run in map(json.loads, lines) if "TRIGGER" in run]
assert runs, lines
assert all(run["TASK"] and run["RESULT"] and "REASON" in run for run in runs), runs
FIELDS
