# Removed while it runs and an app is suspended, and then as the tutorial says.
offstage open headlines
check 'an app is opened' wait_for linked
offstage leave headlines
check 'and suspended' wait_for suspended
app=$(linked)
is_stopped() { grep -q '^State:.*stopped' "/proc/$(napping)/status"; }
napping() { pgrep -u "$visitor" -f '^sleep 310$'; }
as_visitor mkdir -p .local/share/applications
as_visitor tee .local/share/applications/doze.desktop >/dev/null <<'DOZE'
[Desktop Entry]
Type=Application
Name=Doze
Exec=sleep 310
Terminal=true
[X-Offstage]
BackgroundModes=fetch;
DOZE
has_doze() { as_visitor offstage apps | grep -q '^doze '; }
wait_for has_doze
as_visitor offstage open --attach doze &
check 'another one in the session without systemd' wait_for napping
as_visitor offstage leave doze
check 'which is stopped by signals' wait_for is_stopped
apt-get remove -y offstage >>/opt/test/apt 2>&1
check 'a removal ends the daemon' wait_for not daemon
check 'and those that no systemd has started' wait_for not pgrep -f '^([^ ]*/)?offstaged$'
is_same_app() { [ "$(linked)" = "$app" ]; }
check 'a suspended app goes on, and is not stopped for ever' wait_for not suspended
check 'in the same process' is_same_app
check 'and so does the one that was stopped by signals' wait_for not is_stopped
check 'which lives' test -n "$(napping)"
kill "$app"
check 'it can be ended' wait_for not linked
check 'the entry of the autostart starts nothing any more' \
    grep -qx 'nothing to start' <(as_visitor python3 /opt/test/autostart "$entry")
# What a later version has written is not for an earlier one.
install /opt/test/later/offstage_*.deb
as_user systemctl --user enable --now offstaged.service
check 'installed again, it can be switched on again' wait_for offstage status
check 'the user switches it off, and root removes it' type_below 'Remove it'
check 'then no daemon runs' not daemon
check 'nothing would start one' \
    test -z "$(find "/home/$user/.config/systemd" -lname '*offstage*' 2>/dev/null)"
check 'what is the user’s is left' test -e "/home/$user/.local/state/offstage/offstage.db"
check 'and nothing else' test -z "$(find /usr -name '*offstage*' ! -path '*/offstage/swift*' \
    ! -path /usr/share/offstage ! -path '/usr/share/doc/*' -print)"
