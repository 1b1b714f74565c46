# What the daemon costs while all real sources are connected: for a minute on mains nothing wakes
# it, on battery each signal of a source wakes it at most once.
sources=(org.freedesktop.UPower org.freedesktop.NetworkManager org.freedesktop.login1
    net.hadess.PowerProfiles)
of_daemon() { cat /proc/"$(daemon)"/task/*/status; }
# Each time that one of its threads waits it is switched from, also when it waits for a disk.
switches() { of_daemon | awk '/^voluntary_ctxt_switches/ { sum += $2 } END { print sum }'; }
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$(daemon)/status"; }
busctl monitor --json=short "${sources[@]}" >/opt/test/signals 2>/opt/test/monitor &
monitor=$!
wait_for grep -q Monitoring /opt/test/monitor
# Those that the daemon listens to: not the single battery, and nothing below NetworkManager itself.
signals() {
    grep '"type":"signal"' /opt/test/signals |
        grep -cvE '"path":"/org/freedesktop/(UPower/devices/battery_|NetworkManager/)'
}

# Back at the machine, the user lets no processing run, and the battery is full.
hint Idle false
check 'nothing runs' wait_for not runs 301
laptop BAT0 energy_now 50000000
laptop BAT0 status Full
check 'each source is connected: UPower' wait_for is battery '100 %' UPower
check 'NetworkManager' wait_for is network on NetworkManager
check 'logind' wait_for is idle off logind
check 'and power-profiles-daemon' wait_for is low-power off power-profiles-daemon
# A minute is what is measured: nothing is waited for. What was begun before may end in the first.
# UPower looks at its battery twice in each, and says when it did.
for _ in 1 2 3; do
    woken=$(switches) told=$(signals)
    sleep 60
    woken=$(($(switches) - woken)) told=$(($(signals) - told))
    echo "     on mains: $woken wake-ups in 60 s, $told signals of the sources"
    [ "$woken" != 0 ] || break
done
check "on mains nothing wakes the daemon for a minute ($woken wake-ups, $told signals)" \
    test "$woken" = 0

# What it does once it is awake may wait for a disk, or for the service manager's answer. So here
# its wake-ups are counted where it waits for all that may happen.
laptop AC online 0
laptop BAT0 status Discharging
check 'unplugged' wait_for is power off UPower
told=$(signals)
timeout 60 strace -f -qq -e trace=epoll_wait -e signal=none -o /opt/test/waits \
    -p "$(daemon)" &
tracer=$!
for charge in 45 44 43 42 41 40; do
    laptop BAT0 energy_now "${charge}000000"
    sleep 9
done
wait "$tracer"
woken=$(grep -cE ', -1\) = [1-9]' /opt/test/waits) told=$(($(signals) - told))
check 'on battery it has heard of each per cent' wait_for is battery '80 %' UPower
check "each signal has woken it at most once ($woken wake-ups in 60 s, $told signals)" \
    test "$woken" -le "$told"
check 'and it has been woken at all' test "$woken" -gt 0
check "it takes at most 20 MB ($(resident) KB)" test "$(resident)" -le 20480
kill "$monitor"
laptop AC online 1
check 'plugged in, and left by its user' wait_for is power on UPower
hint Idle true
check 'it works again' wait_for runs 301
