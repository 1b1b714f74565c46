_offstage_app() {
    offstage apps --json 2>/dev/null | sed -n 's/.*"app" *: *"\([^"]*\)".*/\1/p;s/^command\.//p'
}
_offstage_id() {
    offstage transfers --json 2>/dev/null | sed -n '/"id" *:/{s/.*"id" *: *\([0-9]*\).*/\1/;h;};/"state" *: *"\(paused\|waiting\|running\)"/{g;p;}'
}
_offstage_clear_id() {
    offstage transfers --json 2>/dev/null | sed -n '/"id" *:/{s/.*"id" *: *\([0-9]*\).*/\1/;h;};/"state" *: *"\(finished\|failed\|cancelled\)"/{g;p;}'
}
_offstage_explain_id() {
    offstage transfers --json 2>/dev/null | sed -n 's/.*"id" *: *\([0-9]*\).*/\1/p'
}
_offstage_condition() {
    case $1 in
        battery) echo 'auto' ;;
        power) echo 'off on auto' ;;
        network) echo 'off portal on auto' ;;
        metered) echo 'off on auto' ;;
        low-data) echo 'off on auto' ;;
        locked) echo 'off on before-first-unlock auto' ;;
        idle) echo 'off on auto' ;;
        low-power) echo 'off on auto' ;;
        thermal) echo 'nominal fair serious critical auto' ;;
        memory) echo 'normal warning critical auto' ;;
        storage) echo 'ok full failing gone auto' ;;
        profile) echo 'apple ios7 ios26 default' ;;
        finish-up) echo 'default' ;;
        entering-background) echo 'default' ;;
        wake-grant) echo 'default' ;;
        task-beyond-wake) echo 'default' ;;
        processing-grant) echo 'default' ;;
        processing-grant-charging) echo 'default' ;;
        expiry-warning) echo 'default' ;;
        suspend-delay) echo 'default' ;;
        launch-watchdog) echo 'default' ;;
        stop-timeout) echo 'default' ;;
        probe-limit) echo 'default' ;;
        interrupted-limit) echo 'default' ;;
        memory-limit) echo 'default' ;;
        cpu-limit) echo 'default' ;;
        cpu-window) echo 'default' ;;
        lock-check-delay) echo 'default' ;;
        log-size) echo 'default' ;;
        background-refresh) echo 'on off default' ;;
        minimum-refresh-interval) echo 'default' ;;
        refreshes-per-day) echo 'default' ;;
        shared-budget) echo 'on off default' ;;
        prior) echo 'on off default' ;;
        wake-price) echo 'default' ;;
        waking-from) echo 'default' ;;
        waking-until) echo 'default' ;;
        shared-wake) echo 'default' ;;
        refresh-on-metered) echo 'on off default' ;;
        processing-interval) echo 'default' ;;
        battery-limit) echo 'default' ;;
        battery-margin) echo 'default' ;;
        settle-time) echo 'default' ;;
        idle-load) echo 'default' ;;
        idle-patience) echo 'default' ;;
        thermal-margin) echo 'default' ;;
        memory-calm) echo 'default' ;;
        unused-limit) echo 'default' ;;
        dropped-after) echo 'default' ;;
        back-off) echo 'default' ;;
        back-off-limit) echo 'default' ;;
        launch-spacing) echo 'default' ;;
        run-slots) echo 'default' ;;
        pause-after-boot) echo 'default' ;;
        pause-after-resume) echo 'default' ;;
        pause-after-start) echo 'default' ;;
        wake-from-sleep) echo 'off charger on default' ;;
        transfer-slots) echo 'default' ;;
        transfers-per-host) echo 'default' ;;
        discretionary-wait) echo 'default' ;;
        transfer-proxy) echo 'default' ;;
        app-wakes-per-day) echo 'default' ;;
        app-time-per-day) echo 'default' ;;
        device-wakes-per-day) echo 'default' ;;
        device-time-per-day) echo 'default' ;;
        pending-refreshes) echo 'default' ;;
        pending-processing) echo 'default' ;;
        failures-before-command) echo 'default' ;;
        failure-command) echo 'default' ;;
        failure-age) echo 'default' ;;
        history-lines) echo 'default' ;;
        history-age) echo 'default' ;;
    esac
}
# Completion for offstage(1), made of its table of commands.
_offstage() {
    local word=${COMP_WORDS[COMP_CWORD]} command= first= words= list= index count=0
    local option= options=' '
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            --socket|--lines|-n|--since|--url|--id|--after|--every|--setenv|--output|-o|--directory|-d|--input|-i|--checksum|--connections|--header|--cookies|--cert|--key|--proxy|--limit-rate|--method|--app|--library|--manifest|--patience|--days|--apps|--seed|--seeds|--usage|--budget|--scope|--wake-price|--html|--user)
                option=${COMP_WORDS[index]}
                ((index++))
                [[ ${COMP_WORDS[index]} == = ]] && ((index++)) ;;
            -*) options+="${COMP_WORDS[index]} " ;;
            *)
                if [[ -z $command ]]; then
                    command=${COMP_WORDS[index]}
                else
                    [[ -n $first ]] || first=${COMP_WORDS[index]}
                    ((count++))
                fi ;;
        esac
    done
    if ((index > COMP_CWORD)); then
        case $command:$option in
            set:--app) list=$(_offstage_app) ;;
        esac
        mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
        return
    fi
    case $command in
        '') words='--json --socket --help --version' list='status apps tasks explain history watch logs doctor open leave close submit run cancel dismiss download upload transfers resume move begin end limits pause continue set conditions settings reload lint modes gates new port simulate evaluate export-usage replay daemon completions help' ;;
        help) words='' list='status apps tasks explain history watch logs doctor open leave close submit run cancel dismiss download upload transfers resume move begin end limits pause continue set conditions settings reload lint modes gates new port simulate evaluate export-usage replay daemon completions manifest' ;;
        status) words='--json --socket --help' ;;
        apps) words='--json --socket --help' ;;
        tasks) words='--json --socket --help' ;;
        explain) words='--json --socket --help' ;;
        history) words='--lines --since --json --socket --help' ;;
        watch) words='--json --socket --help' ;;
        logs) words='--lines --follow --json --socket --help' ;;
        doctor) words='--json --socket --help' ;;
        open) words='--attach --url --json --socket --help' ;;
        leave) words='--json --socket --help' ;;
        close) words='--json --socket --help' ;;
        submit) words='--refresh --processing --id --after --every --network --unmetered --power --unlocked --setenv --json --socket --help' ;;
        run) words='--wait --json --socket --help' ;;
        cancel) words='--json --socket --help' ;;
        dismiss) words='--all --json --socket --help' ;;
        download) words='--output --directory --input --checksum --overwrite --connections --header --cookies --netrc --cert --key --proxy --limit-rate --discretionary --unmetered --power --after --notify --wait --json --socket --help' ;;
        upload) words='--method --idempotent --header --cookies --netrc --cert --key --proxy --limit-rate --discretionary --unmetered --power --after --notify --wait --json --socket --help' ;;
        transfers) words='--watch --pause --resume --cancel --clear --json --socket --help' ;;
        resume) words='--json --socket --help' ;;
        move) words='--first --last --directory --output --overwrite --json --socket --help' ;;
        begin) words='--json --socket --help' ;;
        end) words='--json --socket --help' ;;
        limits) words='--json --socket --help' ;;
        pause) words='--json --socket --help' ;;
        continue) words='--json --socket --help' ;;
        set) words='--app --json --socket --help' ;;
        conditions) words='--json --socket --help' ;;
        settings) words='--defaults --json --socket --help' ;;
        reload) words='--json --socket --help' ;;
        lint) words='--json --socket --help' ;;
        modes) words='--json --socket --help' ;;
        gates) words='--json --socket --help' ;;
        new) words='--library --json --socket --help' ;;
        port) words='--manifest --json --socket --help' ;;
        simulate) words='--patience --refresh --processing --days --apps --seed --seeds --json --socket --help' ;;
        evaluate) words='--usage --budget --scope --wake-price --html --user --json --socket --help' ;;
        export-usage) words='--hash --user --json --socket --help' ;;
        replay) words='--json --socket --help' ;;
        daemon) words='--background --socket --help' ;;
        completions) words='--socket --help' ;;
    esac
    if [[ $word == -* ]]; then list=$words; fi
    if [[ $word != -* ]]; then
        case $command:$count in
            tasks:0) list="$(_offstage_app)" ;;
            explain:0) list="$(_offstage_app) $(_offstage_explain_id)" ;;
            history:0) list="$(_offstage_app)" ;;
            watch:0) list="$(_offstage_app)" ;;
            logs:0) list="$(_offstage_app)" ;;
            open:0) list="$(_offstage_app)" ;;
            leave:0) list="$(_offstage_app)" ;;
            close:0) list="$(_offstage_app)" ;;
            run:0) list="$(_offstage_app)" ;;
            cancel:0) list="$(_offstage_app) $(_offstage_id)" ;;
            dismiss:*) list="$(_offstage_app)" ;;
            transfers:*) list="$(_offstage_id)"
                [[ $options == *' --clear '* ]] && list=$(_offstage_clear_id) ;;
            resume:*) list="$(_offstage_id)" ;;
            move:*) list="$(_offstage_id)" ;;
            pause:*) list="$(_offstage_id)" ;;
            set:0) list='battery power network metered low-data locked idle low-power thermal memory storage profile finish-up entering-background wake-grant task-beyond-wake processing-grant processing-grant-charging expiry-warning suspend-delay launch-watchdog stop-timeout probe-limit interrupted-limit memory-limit cpu-limit cpu-window lock-check-delay log-size background-refresh minimum-refresh-interval refreshes-per-day shared-budget prior wake-price waking-from waking-until shared-wake refresh-on-metered processing-interval battery-limit battery-margin settle-time idle-load idle-patience thermal-margin memory-calm unused-limit dropped-after back-off back-off-limit launch-spacing run-slots pause-after-boot pause-after-resume pause-after-start wake-from-sleep transfer-slots transfers-per-host discretionary-wait transfer-proxy app-wakes-per-day app-time-per-day device-wakes-per-day device-time-per-day pending-refreshes pending-processing failures-before-command failure-command failure-age history-lines history-age' ;;
            set:1) list=$(_offstage_condition "$first") ;;
            new:0) list='app' ;;
            simulate:0) list='launch expire fetch advance sleep' ;;
            completions:0) list='bash zsh fish' ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
}
complete -o default -F _offstage offstage
