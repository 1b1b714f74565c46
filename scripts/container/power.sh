# The real UPower, on a laptop of umockdev's, and a command that is frozen when it is interrupted.
systemctl mask --runtime --now upower.service
mkfifo /opt/test/laptop
exec 9<>/opt/test/laptop
umockdev-wrapper python3 /opt/test/container/laptop.py </opt/test/laptop &
laptop() { echo "$*" >&9; }
check 'UPower tells of the battery' wait_for is battery '80 %' UPower
check 'and of the power line' is power on UPower

cat >"/home/$user/.local/share/applications/index.desktop" <<'MANIFEST'
[Desktop Entry]
Type=Application
Name=Index
Exec=true
[X-Offstage]
BackgroundModes=processing;
ProcessingCommand=sleep 306
ProcessingNeeds=power;
WhenInterrupted=freeze
MANIFEST
hint Idle true
check 'idle and plugged in, a command runs' wait_for runs 306
index=$(runs 306)
says() { grep -q "$1" <<<"$(offstage explain index)"; }
now() { echo $(($(date +%s%N) / 1000000)); }
# NAME COMMAND…: runs the command; the other one is frozen within a second.
check_frozen() {
    local begin end
    begin=$(now)
    "${@:2}"
    until is_frozen "$index" || [ $(($(now) - begin)) -ge 1000 ]; do sleep 0.01; done
    end=$(now)
    check "$1 ($((end - begin)) ms)" test $((end - begin)) -lt 1000
}
check_frozen 'unplugged, it is frozen within a second' laptop AC online 0
check 'explain says so' wait_for says 'external power'
check 'UPower has told so' is power off UPower
laptop BAT0 energy_now 9500000
check 'the battery is used up to 19 %' wait_for is battery '19 %' UPower
offstage submit --refresh --id mail -- touch "/home/$user/mailed" >/dev/null
check 'which holds other work' wait_for explains mail 'battery'
check 'that has not run' test ! -e "/home/$user/mailed"
laptop AC online 1
check 'plugged in, the command goes on' wait_for not is_frozen "$index"
check 'and the other work is let go' wait_for test -e "/home/$user/mailed"
laptop BAT0 energy_now 40000000
check_frozen 'the user comes back: frozen within a second' hint Idle false
check 'explain says so' wait_for says 'in use'
hint Idle true
check 'the user leaves, and it goes on' wait_for not is_frozen "$index"
laptop end
check 'without UPower the kernel is asked' wait_for is power 'on (no battery)' 'the kernel'
laptop start
check 'UPower is back' wait_for is power on UPower
laptop AC online 0
check 'and heard' wait_for is power off UPower
laptop AC online 1
check 'each time' wait_for is power on UPower
rm "/home/$user/.local/share/applications/index.desktop"
check 'without its manifest it ends' wait_for not runs 306
