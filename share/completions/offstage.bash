# Completion for offstage(1), made of its table of commands.
_offstage() {
    local word=${COMP_WORDS[COMP_CWORD]} command= words= index
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            --socket) ((index++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[index]} && break ;;
        esac
    done
    case $command in
        '') words='status apps tasks explain history watch logs doctor open leave close submit run cancel dismiss download upload transfers resume move begin end limits pause continue set conditions settings lint modes gates new port simulate evaluate export-usage replay daemon completions help --json --socket --help --version' ;;
        help) words='status apps tasks explain history watch logs doctor open leave close submit run cancel dismiss download upload transfers resume move begin end limits pause continue set conditions settings lint modes gates new port simulate evaluate export-usage replay daemon completions manifest' ;;
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
        dismiss) words='--all --socket --help' ;;
        download) words='--output --directory --input --checksum --overwrite --connections --header --cookies --netrc --cert --key --proxy --limit-rate --discretionary --unmetered --power --after --notify --wait --json --socket --help' ;;
        upload) words='--method --idempotent --header --cookies --netrc --cert --key --proxy --limit-rate --discretionary --unmetered --power --after --notify --wait --json --socket --help' ;;
        transfers) words='--watch --pause --resume --cancel --clear --json --socket --help' ;;
        resume) words='--json --socket --help' ;;
        move) words='--first --last --directory --output --overwrite --json --socket --help' ;;
        begin) words='--socket --help' ;;
        end) words='--socket --help' ;;
        limits) words='--json --socket --help' ;;
        pause) words='--json --socket --help' ;;
        continue) words='--json --socket --help' ;;
        set) words='battery power network metered locked idle low-power thermal memory storage profile finish-up entering-background wake-grant task-beyond-wake processing-grant processing-grant-charging expiry-warning suspend-delay launch-watchdog stop-timeout probe-limit interrupted-limit memory-limit cpu-limit cpu-window lock-check-delay log-size background-refresh minimum-refresh-interval refreshes-per-day shared-budget prior wake-price waking-from waking-until shared-wake refresh-on-metered processing-interval battery-limit battery-margin settle-time idle-load idle-patience thermal-margin memory-calm unused-limit dropped-after back-off back-off-limit launch-spacing run-slots pause-after-boot pause-after-resume pause-after-start wake-from-sleep transfer-slots transfers-per-host discretionary-wait transfer-proxy app-wakes-per-day app-time-per-day device-wakes-per-day device-time-per-day pending-refreshes pending-processing failures-before-command failure-command failure-age history-lines history-age --app --json --socket --help' ;;
        conditions) words='--json --socket --help' ;;
        settings) words='--defaults --json --socket --help' ;;
        lint) words='--json --socket --help' ;;
        modes) words='--json --socket --help' ;;
        gates) words='--json --socket --help' ;;
        new) words='app --library --socket --help' ;;
        port) words='--manifest --json --socket --help' ;;
        simulate) words='launch expire fetch advance sleep --patience --refresh --processing --days --apps --seed --seeds --json --socket --help' ;;
        evaluate) words='--usage --budget --scope --wake-price --html --user --json --socket --help' ;;
        export-usage) words='--hash --user --socket --help' ;;
        replay) words='--json --socket --help' ;;
        daemon) words='--socket --help' ;;
        completions) words='bash zsh fish --socket --help' ;;
    esac
    case $command in
        tasks|explain|history|watch|logs|open|leave|close|run|cancel|dismiss)
            [[ $word == -* ]] || words+=" $(offstage apps --json 2>/dev/null | sed -n 's/.*"app" *: *"\([^"]*\)".*/\1/p')" ;;
    esac
    case $command in
        resume|pause)
            [[ $word == -* ]] || words+=" $(offstage transfers --json 2>/dev/null | sed -n 's/.*"id" *: *\([0-9]*\).*/\1/p')" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _offstage offstage
