# Removed while it runs, and then as the tutorial says.
apt-get remove -y offstage >>/opt/test/apt 2>&1
check 'a removal ends the daemon' wait_for not daemon
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
