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
        battery) printf '%s\n' auto ;;
        power) printf '%s\n' off on auto ;;
        network) printf '%s\n' off portal on auto ;;
        metered) printf '%s\n' off on auto ;;
        low-data) printf '%s\n' off on auto ;;
        locked) printf '%s\n' off on before-first-unlock auto ;;
        idle) printf '%s\n' off on auto ;;
        low-power) printf '%s\n' off on auto ;;
        thermal) printf '%s\n' nominal fair serious critical auto ;;
        memory) printf '%s\n' normal warning critical auto ;;
        storage) printf '%s\n' ok full failing gone auto ;;
        profile) printf '%s\n' apple ios7 ios26 default ;;
        finish-up) printf '%s\n' default ;;
        entering-background) printf '%s\n' default ;;
        wake-grant) printf '%s\n' default ;;
        task-beyond-wake) printf '%s\n' default ;;
        processing-grant) printf '%s\n' default ;;
        processing-grant-charging) printf '%s\n' default ;;
        expiry-warning) printf '%s\n' default ;;
        suspend-delay) printf '%s\n' default ;;
        launch-watchdog) printf '%s\n' default ;;
        stop-timeout) printf '%s\n' default ;;
        probe-limit) printf '%s\n' default ;;
        interrupted-limit) printf '%s\n' default ;;
        memory-limit) printf '%s\n' default ;;
        cpu-limit) printf '%s\n' default ;;
        cpu-window) printf '%s\n' default ;;
        lock-check-delay) printf '%s\n' default ;;
        log-size) printf '%s\n' default ;;
        background-refresh) printf '%s\n' on off default ;;
        minimum-refresh-interval) printf '%s\n' default ;;
        refreshes-per-day) printf '%s\n' default ;;
        shared-budget) printf '%s\n' on off default ;;
        prior) printf '%s\n' on off default ;;
        wake-price) printf '%s\n' default ;;
        waking-from) printf '%s\n' default ;;
        waking-until) printf '%s\n' default ;;
        shared-wake) printf '%s\n' default ;;
        refresh-on-metered) printf '%s\n' on off default ;;
        processing-interval) printf '%s\n' default ;;
        battery-limit) printf '%s\n' default ;;
        battery-margin) printf '%s\n' default ;;
        settle-time) printf '%s\n' default ;;
        idle-load) printf '%s\n' default ;;
        idle-patience) printf '%s\n' default ;;
        thermal-margin) printf '%s\n' default ;;
        memory-calm) printf '%s\n' default ;;
        unused-limit) printf '%s\n' default ;;
        dropped-after) printf '%s\n' default ;;
        back-off) printf '%s\n' default ;;
        back-off-limit) printf '%s\n' default ;;
        launch-spacing) printf '%s\n' default ;;
        run-slots) printf '%s\n' default ;;
        pause-after-boot) printf '%s\n' default ;;
        pause-after-resume) printf '%s\n' default ;;
        pause-after-start) printf '%s\n' default ;;
        wake-from-sleep) printf '%s\n' off charger on default ;;
        transfer-slots) printf '%s\n' default ;;
        transfers-per-host) printf '%s\n' default ;;
        download-limit) printf '%s\n' default ;;
        discretionary-wait) printf '%s\n' default ;;
        transfer-proxy) printf '%s\n' default ;;
        app-wakes-per-day) printf '%s\n' default ;;
        app-time-per-day) printf '%s\n' default ;;
        device-wakes-per-day) printf '%s\n' default ;;
        device-time-per-day) printf '%s\n' default ;;
        pending-refreshes) printf '%s\n' default ;;
        pending-processing) printf '%s\n' default ;;
        failures-before-command) printf '%s\n' default ;;
        failure-command) printf '%s\n' default ;;
        failure-age) printf '%s\n' default ;;
        history-lines) printf '%s\n' default ;;
        history-age) printf '%s\n' default ;;
    esac
}
_offstage_offer() {
    local word=$1 item quoted
    shift
    for item; do
        [[ -n $item ]] || continue
        printf -v quoted %q "$item"
        if [[ $item == "$word"* || $quoted == "$word"* ]]; then
            COMPREPLY+=("$quoted")
        fi
    done
}
# Completion for offstage(1), made of its table of commands.
_offstage() {
    local word=${COMP_WORDS[COMP_CWORD]} command= first= index count=0
    local option= options=' '
    local -a words=() list=()
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
            set:--app) mapfile -t list < <(_offstage_app) ;;
        esac
        _offstage_offer "$word" "${list[@]}"
        return
    fi
    case $command in
        '') words=(--json --socket --help --version) list=(status apps tasks explain history watch logs doctor open leave close submit run cancel dismiss download upload transfers resume move begin end limits pause continue set conditions settings reload lint modes gates new port simulate evaluate export-usage replay daemon completions help) ;;
        help) words=() list=(status apps tasks explain history watch logs doctor open leave close submit run cancel dismiss download upload transfers resume move begin end limits pause continue set conditions settings reload lint modes gates new port simulate evaluate export-usage replay daemon completions manifest) ;;
        status) words=(--json --socket --help) ;;
        apps) words=(--json --socket --help) ;;
        tasks) words=(--json --socket --help) ;;
        explain) words=(--json --socket --help) ;;
        history) words=(--lines --since --json --socket --help) ;;
        watch) words=(--json --socket --help) ;;
        logs) words=(--lines --follow --json --socket --help) ;;
        doctor) words=(--json --socket --help) ;;
        open) words=(--attach --url --json --socket --help) ;;
        leave) words=(--json --socket --help) ;;
        close) words=(--json --socket --help) ;;
        submit) words=(--refresh --processing --id --after --every --network --unmetered --power --unlocked --setenv --json --socket --help) ;;
        run) words=(--wait --json --socket --help) ;;
        cancel) words=(--json --socket --help) ;;
        dismiss) words=(--all --json --socket --help) ;;
        download) words=(--output --directory --input --checksum --overwrite --connections --header --cookies --netrc --cert --key --proxy --limit-rate --discretionary --unmetered --power --after --notify --wait --json --socket --help) ;;
        upload) words=(--method --idempotent --header --cookies --netrc --cert --key --proxy --limit-rate --discretionary --unmetered --power --after --notify --wait --json --socket --help) ;;
        transfers) words=(--watch --pause --resume --cancel --clear --json --socket --help) ;;
        resume) words=(--json --socket --help) ;;
        move) words=(--first --last --directory --output --overwrite --json --socket --help) ;;
        begin) words=(--json --socket --help) ;;
        end) words=(--json --socket --help) ;;
        limits) words=(--json --socket --help) ;;
        pause) words=(--json --socket --help) ;;
        continue) words=(--json --socket --help) ;;
        set) words=(--app --json --socket --help) ;;
        conditions) words=(--json --socket --help) ;;
        settings) words=(--defaults --json --socket --help) ;;
        reload) words=(--json --socket --help) ;;
        lint) words=(--json --socket --help) ;;
        modes) words=(--json --socket --help) ;;
        gates) words=(--json --socket --help) ;;
        new) words=(--library --json --socket --help) ;;
        port) words=(--manifest --json --socket --help) ;;
        simulate) words=(--patience --refresh --processing --days --apps --seed --seeds --json --socket --help) ;;
        evaluate) words=(--usage --budget --scope --wake-price --html --user --json --socket --help) ;;
        export-usage) words=(--hash --user --json --socket --help) ;;
        replay) words=(--json --socket --help) ;;
        daemon) words=(--background --socket --help) ;;
        completions) words=(--socket --help) ;;
    esac
    if [[ $word == -* ]]; then list=("${words[@]}"); fi
    if [[ $word != -* ]]; then
        case $command:$count in
            tasks:0) mapfile -t list < <(_offstage_app) ;;
            explain:0) mapfile -t list < <(_offstage_app; _offstage_explain_id) ;;
            history:0) mapfile -t list < <(_offstage_app) ;;
            watch:0) mapfile -t list < <(_offstage_app) ;;
            logs:0) mapfile -t list < <(_offstage_app) ;;
            open:0) mapfile -t list < <(_offstage_app) ;;
            leave:0) mapfile -t list < <(_offstage_app) ;;
            close:0) mapfile -t list < <(_offstage_app) ;;
            run:0) mapfile -t list < <(_offstage_app) ;;
            cancel:0) mapfile -t list < <(_offstage_app; _offstage_id) ;;
            dismiss:*) mapfile -t list < <(_offstage_app) ;;
            transfers:*) mapfile -t list < <(_offstage_id)
                [[ $options == *' --clear '* ]] && mapfile -t list < <(_offstage_clear_id) ;;
            resume:*) mapfile -t list < <(_offstage_id) ;;
            move:*) mapfile -t list < <(_offstage_id) ;;
            pause:*) mapfile -t list < <(_offstage_id) ;;
            set:0) list=(battery power network metered low-data locked idle low-power thermal memory storage profile finish-up entering-background wake-grant task-beyond-wake processing-grant processing-grant-charging expiry-warning suspend-delay launch-watchdog stop-timeout probe-limit interrupted-limit memory-limit cpu-limit cpu-window lock-check-delay log-size background-refresh minimum-refresh-interval refreshes-per-day shared-budget prior wake-price waking-from waking-until shared-wake refresh-on-metered processing-interval battery-limit battery-margin settle-time idle-load idle-patience thermal-margin memory-calm unused-limit dropped-after back-off back-off-limit launch-spacing run-slots pause-after-boot pause-after-resume pause-after-start wake-from-sleep transfer-slots transfers-per-host download-limit discretionary-wait transfer-proxy app-wakes-per-day app-time-per-day device-wakes-per-day device-time-per-day pending-refreshes pending-processing failures-before-command failure-command failure-age history-lines history-age) ;;
            set:1) mapfile -t list < <(_offstage_condition "$first") ;;
            new:0) list=(app) ;;
            simulate:0) list=(launch expire fetch advance sleep) ;;
            completions:0) list=(bash zsh fish) ;;
        esac
    fi
    _offstage_offer "$word" "${list[@]}"
}
complete -o default -F _offstage offstage
