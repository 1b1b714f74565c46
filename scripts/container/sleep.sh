# The helper that wakes the machine, as the user's own daemon calls it. A session in a container has
# no seat, and so no rights of somebody who sits there; nor is there a real-time clock.
wake() {
    as_user systemd-run --user --quiet --pipe --wait busctl --system --timeout=20 call \
        org.offstage.Wake1 /org/offstage/Wake1 org.offstage.Wake1 "$@" 2>&1
}
check 'the system starts the helper, and polkit permits nothing without a seat' \
    grep -q 'polkit does not permit it' <(wake SetAlarm t 99999999999)
# As doctor says.
mkdir -p /etc/polkit-1/rules.d
cp /usr/share/offstage/polkit-1/50-offstage-wake.rules /etc/polkit-1/rules.d
usermod --append --groups sudo "$user"
systemctl restart polkit.service
check 'whom a rule permits is told that nothing here can wake it' \
    grep -q 'no real-time clock' <(wake SetAlarm t 99999999999)
check 'and suspends nothing that it has not woken' \
    grep -q 'no alarm of yours' <(wake SleepAgain)

# logind's own suspend, of a stand-in for the kernel's.
mount -o remount,rw /sys
mkdir -p /sys/power
printf 'freeze mem disk\n' >/sys/power/state
systemctl restart systemd-logind
# It has forgotten that the session is idle, and what runs may have been stopped for that.
hint Idle true
wait_for is idle on logind
wait_for runs 301
before=$(runs 301)
# By which logind asks the daemon before it sleeps. Given back then, and taken anew after it.
delay_lock() {
    find /run/systemd/inhibit -type f -exec grep -lx WHAT=sleep {} + | xargs grep -lx WHO=Offstage |
        xargs grep -lx "UID=$uid"
}
is_another_lock() { delay_lock && [ "$(delay_lock)" != "$1" ]; }
wait_for delay_lock
lock=$(delay_lock)
offstage submit --processing --id later --after 2h -- true >/dev/null
check 'a suspend of the user is not refused' systemctl suspend
slept() { grep -qx mem /sys/power/state; }
check 'and happens' wait_for slept
said() { journalctl --no-pager -b -o cat | grep -q "$1"; }
check 'before it the daemon asks the helper to wake the machine for its work' \
    wait_for said 'not woken for work: this machine has no real-time clock'
check 'and after it is asked before the next sleep as well' wait_for is_another_lock "$lock"
check 'what ran goes on' test "$(runs 301)" = "$before"

# The call by which the helper suspends the machine, while a program of the user inhibits sleep. On
# the screen polkit permits that to the user, here only by a rule.
cat >/etc/polkit-1/rules.d/10-inhibit.rules <<RULE
polkit.addRule(function (action, subject) {
    if (action.id == "org.freedesktop.login1.inhibit-block-sleep" && subject.user == "$user")
        return "yes";
});
RULE
systemctl restart polkit.service
printf 'freeze mem disk\n' >/sys/power/state
suspend_as_helper() {
    busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager \
        SuspendWithFlags t 1 2>&1
}
inhibited() { systemd-inhibit --list --no-legend | grep Backup | grep -q 'sleep.*block'; }
inhibit=(systemd-inhibit --what=sleep --mode=block --who=Backup sleep 302)
as_user "${inhibit[@]}" &
check 'a program of the user inhibits sleep' wait_for inhibited
check 'then logind does not suspend the machine, even for root' \
    grep -q 'Access denied' <(suspend_as_helper)
pkill -f '^sleep 302$'
wait_for not inhibited
check 'nor has it, when that program has ended' test "$(slept; echo $?)" = 1
# So the helper asks logind first what is inhibited.
"${inhibit[@]}" &
wait_for inhibited
lock=$(delay_lock)
check 'it passes over what a program of root inhibits' test -z "$(suspend_as_helper)"
check 'and the machine sleeps' wait_for slept
pkill -f '^sleep 302$'
check 'after it the daemon is asked again' wait_for is_another_lock "$lock"

# The clocks of a container do not sleep. That of a daemon with a virtual clock does, for two hours
# while logind suspends the machine. It is not to be woken for work.
sleeper() { as_user env OFFSTAGE_SOCKET="/run/user/$uid/sleeper/socket" offstage "$@"; }
mkdir -p /opt/test/none
as_user systemd-run --user --quiet --unit=sleeper offstaged --virtual-clock \
    --data=/opt/test/none --state="/home/$user/.local/state/sleeper" \
    --runtime="/run/user/$uid/sleeper"
check 'a daemon with a clock of its own runs' wait_for sleeper status
sleeper set wake-from-sleep off >/dev/null
for due in 60 90; do
    sleeper submit --processing --id "after$due" --after "${due}m" -- true >/dev/null
done
cat >/usr/lib/systemd/system-sleep/test <<HOOK
#!/bin/sh
[ "\$1" = post ] || exec setpriv --reuid $uid --regid $uid --clear-groups \
    env OFFSTAGE_SOCKET=/run/user/$uid/sleeper/socket offstage simulate sleep 2h
HOOK
chmod +x /usr/lib/systemd/system-sleep/test
says() { grep -q "$2" <<<"$(sleeper explain "command.after$1")"; }
# How many seconds lie between the two.
apart() {
    sleeper history --json | python3 -c 'import datetime, json, sys
times = [datetime.datetime.fromisoformat(line["at"]) for line in json.load(sys.stdin)]
print(int((max(times) - min(times)).total_seconds()) if len(times) == 2 else "not two runs")'
}
check 'two commands are due in 60 and in 90 minutes' says 60 'is to begin at'
printf 'freeze mem disk\n' >/sys/power/state
check 'the machine sleeps for two hours' systemctl suspend
wait_for slept
check 'on the way back explain says why the first does not run yet' \
    wait_for says 60 'has just woken up. It runs at'
check 'and the second' says 90 'has just woken up. It runs at'
check 'after the pause it says that the first has run' wait_for says 60 'completed (exit status 0)'
check 'and the second' wait_for says 90 'completed (exit status 0)'
check "both in the same wake ($(apart) s apart)" grep -qx '[01]' <(apart)
as_user systemctl --user stop sleeper
rm /usr/lib/systemd/system-sleep/test
rm -r /sys/power
mount -o remount,ro /sys
systemctl restart systemd-logind
hint Idle true
wait_for is idle on logind
wait_for runs 301
