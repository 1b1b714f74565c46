# As from a terminal of the session: in a control group of the user's own manager.
demonstrate() {
    as_user systemd-run --user --quiet --pipe --wait -E PATH=/usr/bin:/bin python3 -B \
        /opt/test/demonstration --once --programs /opt/test/programs >/opt/test/demonstrated 2>&1
}
demo_groups() { find /sys/fs/cgroup -name 'offstage-*' -prune -print | sort; }
before=$(demo_groups)
demonstrate
status=$?
sed -n '/^── What was seen/,$ s/^  ✓ /ok   demonstration: /p' /opt/test/demonstrated
check "the demonstration ends with 0: $(tail -n 2 /opt/test/demonstrated | tr '\n' ' ')" \
    test "$status" = 0
[ "$status" = 0 ] || sed 's/^/     /' /opt/test/demonstrated
check 'in it the kernel froze apps by their control groups' \
    grep -q 'cgroup.events says frozen 1' <(tr -s ' \n' ' ' </opt/test/demonstrated)
# systemd removes an empty scope a moment after its last process.
as_before() { [ "$(demo_groups)" = "$before" ]; }
check 'it leaves no control group behind' wait_for as_before
as_before || diff <(echo "$before") <(demo_groups)
check 'no process' test -z "$(pgrep -u "$user" -f /offstage-demo-)"
check 'and no file' test -z "$(find /tmp -maxdepth 1 -name 'offstage-demo-*')"
