# The gateway, from its guide: under a real name and at a port below 1024, upgraded and removed.
check 'the package of the gateway installs' install /opt/test/.build/deb/offstage-gateway_*.deb
check 'and starts nothing' not pgrep -f 'offstage-gateway serve'
echo '192.0.2.1 push.example.org' >>/etc/hosts
block operating-a-gateway.md Install 1 >/opt/test/gateway
check 'the gateway is created under its name and started' bash -e /opt/test/gateway
said_gateway() { journalctl -u offstage-gateway -o cat --no-pager | tail -n 5 | grep -q "$1"; }
check 'and serves' wait_for said_gateway '^serving providers at port 8443, devices at port 8444$'

directory=/var/lib/offstage-gateway
# What the sender's machine and the device's have of it.
cp "$directory"/{ca.pem,OFFSTAGE01.p8} "/home/$user/"
chown "$user:" "/home/$user"/{ca.pem,OFFSTAGE01.p8}
block operating-a-gateway.md 'The first push' 2 >/opt/test/device
as_user bash /opt/test/device >/opt/test/pushes 2>&1 &
token() { grep -oEm 1 '[0-9a-f]{64,}' /opt/test/pushes; }
check 'a device gets a token by that name' wait_for token
block operating-a-gateway.md 'The first push' 3 | sed "s/ TOKEN\$/ $(token)/" >/opt/test/send
check 'the command for a push works' as_user bash -e /opt/test/send
# `init` prints a curl command for the first port of `listen`.
push() {
    offstage-gateway init --directory="$directory" | sed -n "s/org.example.App/org.example.Chat/
        s/TOKEN$/$1/
        s/^  curl/& -sS -w ' %{http_version} %{http_code}\\n'/p" >/opt/test/push
    bash -e /opt/test/push
}
main() { systemctl show --property=MainPID --value offstage-gateway; }
of_main() { sed -n "s/^$1:\t*//p" "/proc/$(main)/status" | awk '{ print $1 }'; }
no_root() {
    local pid
    for pid in $(cat "/sys/fs/cgroup/system.slice/offstage-gateway.service/cgroup.procs"); do
        [ "$(stat -c %u "/proc/$pid")" != 0 ] || return 1
    done
    [ "$(of_main Uid)" != 0 ]
}
serves_443() { said_gateway 'providers at port 443, devices'; }
pushed() { grep -c Hello /opt/test/pushes; }

mkdir -p /etc/systemd/system/offstage-gateway.service.d
block operating-a-gateway.md Ports 1 >/etc/systemd/system/offstage-gateway.service.d/override.conf
systemctl daemon-reload
echo 'listen = :443' >>"$directory/gateway.conf"
systemctl restart offstage-gateway
check 'with the drop-in it serves port 443' wait_for serves_443
check 'the curl command of init names it' \
    grep -q 'https://push.example.org:443/' <(offstage-gateway init --directory="$directory")
answer=$(push "$(token)")
check "a push to it is answered 200 ($answer)" grep -q ' 2 200$' <<<"$answer"
check 'and arrives' wait_for eval '[ "$(pushed)" = 2 ]'
answer=$(push "$(token | tr 0-9a-f 1-9a-f0)")
check "one to another token 400 ($answer)" grep -q 'BadDeviceToken.* 2 400$' <<<"$answer"
check 'and no process of it is root' no_root
check 'nor may it more than listen there' test "$(of_main CapEff)" = 0000000000000400

rm -r /etc/systemd/system/offstage-gateway.service.d
mkdir -p /etc/systemd/system/offstage-gateway-providers.socket.d
block gateway.md 'An upgrade that refuses nobody' 2 \
    >/etc/systemd/system/offstage-gateway-providers.socket.d/override.conf
systemctl daemon-reload
check 'its sockets take port 443 without a privilege' \
    bash -e <(block gateway.md 'An upgrade that refuses nobody' 1)
answer=$(push "$(token)")
check "there a push is answered as well ($answer)" grep -q ' 2 200$' <<<"$answer"
check 'and no process of it is root' no_root
check 'nor has it any capability' test "$(of_main CapEff)" = 0000000000000000
cat /opt/test/pushes

units=(offstage-gateway.service offstage-gateway-{providers,devices}.socket)
status() {
    curl -sk --http2 -o /dev/null -w '%{http_code}\n' -d '{}' https://push.example.org/3/device/00
}
ask() { until [ -e /opt/test/enough ]; do status; done >/opt/test/statuses; }
first=$(main)
ask &
asking=$!
check 'a later package of it installs' install /opt/test/later/offstage-gateway_*.deb
check 'and runs in place of the old one' test "$(main)" != "$first"
check 'from its program' test "$(readlink "/proc/$(main)/exe")" = /usr/bin/offstage-gateway
touch /opt/test/enough
wait "$asking"
check "meanwhile nobody is refused ($(wc -l </opt/test/statuses) asked)" \
    test "$(sort -u /opt/test/statuses)" = 403
apt-get remove -y offstage-gateway >>/opt/test/apt 2>&1
check 'a removal stops it and its sockets' not systemctl is-active --quiet "${units[@]}"
check 'so that nothing listens' test -z "$(ss -Htln '( sport = :443 or sport = :8444 )')"
check 'and nothing runs' not pgrep -f 'offstage-gateway serve'
apt-get purge -y offstage-gateway >>/opt/test/apt 2>&1
check 'a purge leaves nothing that starts it' \
    test -z "$(find /etc/systemd/system -lname '*offstage-gateway*')"
check 'but what it keeps' test -e "$directory/ca.pem"
