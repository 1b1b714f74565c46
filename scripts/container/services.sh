# The real NetworkManager, logind and power-profiles-daemon: work that runs is ended, and what waits
# is let go, each time for the reason that the service gave.
check 'NetworkManager tells of the network' wait_for is network on NetworkManager
check 'logind tells that the screen is not locked' wait_for is locked off logind
hint Idle true
submit sync 303 --network
check 'idle and online, work begins' wait_for runs 303
nmcli connection down net >/dev/null
check_held 'without the network it ends' sync 303 'no network connection' 'network is gone'
check 'NetworkManager has told so' is network off NetworkManager
nmcli connection up net >/dev/null
check 'it begins again when the network is back' wait_for runs 303
touch /opt/test/portal
check 'NetworkManager finds a portal' test "$(nmcli networking connectivity check)" = portal
check_held 'which ends it' sync 303 'requires a sign-in' 'network is gone'
check 'NetworkManager has told so' is network portal NetworkManager
rm /opt/test/portal
check 'the user signs in' online
check 'and it begins again' wait_for runs 303
offstage cancel command.sync >/dev/null

submit download 304 --unmetered
check 'what wants an unmetered network begins' wait_for runs 304
nmcli connection modify net connection.metered yes
nmcli device reapply net0 >/dev/null
check_held 'it ends where the network is metered' download 304 \
    'network is metered' 'network is metered now'
check 'NetworkManager has told so' is metered on NetworkManager
nmcli connection modify net connection.metered no
nmcli device reapply net0 >/dev/null
check 'it begins again where it is not' wait_for runs 304
offstage cancel command.download >/dev/null

submit vault 305 --unlocked
check 'what wants unlocked data begins' wait_for runs 305
hint Locked true
check_held 'the lock ends it' vault 305 'the device is locked' 'is locked now'
check 'logind has told so' is locked on logind
hint Locked false
check 'and the unlocking lets it go' wait_for runs 305
offstage cancel command.vault >/dev/null

profile() {
    busctl set-property net.hadess.PowerProfiles /net/hadess/PowerProfiles \
        net.hadess.PowerProfiles ActiveProfile s "$1"
}
submit work 301
check 'work begins' wait_for runs 301
profile power-saver
check_held 'the profile power-saver ends it' work 301 'low-power mode' 'low-power mode'
check 'power-profiles-daemon has told so' is low-power on power-profiles-daemon
profile balanced
check 'and the profile balanced lets it go' wait_for runs 301
held_awake() { systemd-inhibit --list --no-legend | grep Offstage | grep -q 'idle.*block'; }
check 'work keeps the machine awake' wait_for held_awake
hint Idle false
check_held 'the user comes back, and it ends' work 301 'in use' 'in use'
check 'then nothing keeps the machine awake' wait_for not held_awake
hint Idle true
check 'idle again, it begins again' wait_for runs 301

# Restarted under the daemon. A change that is told afterwards shows that they are heard again.
systemctl restart NetworkManager
nmcli connection modify net connection.metered yes
check 'a restarted NetworkManager takes up its network' wait_for nmcli device reapply net0
check 'and is heard' wait_for is metered on NetworkManager
nmcli connection modify net connection.metered no
nmcli device reapply net0 >/dev/null
check 'each time' wait_for is metered off NetworkManager
systemctl restart systemd-logind
hint Locked true
check 'a restarted logind is heard' wait_for is locked on logind
hint Locked false
check 'each time' wait_for is locked off logind
# It has forgotten that the session is idle.
hint Idle true
check 'and work goes on' wait_for runs 301
