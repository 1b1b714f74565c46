# Completion for offstage-gateway(1), made of its table of commands.
_offstage_gateway() {
    local word=${COMP_WORDS[COMP_CWORD]} command= words= index
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            --directory) ((index++)) ;;
            -*) ;;
            *) command=${COMP_WORDS[index]} && break ;;
        esac
    done
    case $command in
        '') words='init serve stats backup keys topics devices send log device completions help --json --directory --help --version' ;;
        help) words='init serve stats backup keys topics devices send log device completions settings' ;;
        init) words='--host --key-id --team --json --directory --help' ;;
        serve) words='--listen --devices --metrics --json --directory --help' ;;
        stats) words='--json --directory --help' ;;
        backup) words='--force --json --directory --help' ;;
        keys) words='add remove quota certificate revoke readmit revoked --team --topics --environment --public --json --directory --help' ;;
        topics) words='add set any remove --team --json --directory --help' ;;
        devices) words='remove --lines --json --directory --help' ;;
        send) words='--topic --alert --silent --data --payload --type --priority --expiration --collapse-id --host --ca --key --key-id --team --json --directory --help' ;;
        log) words='--apns-id --device --topic --state --since --until --lines --json --directory --help' ;;
        device) words='--host --ca --enrolment-file --identity --web-push --sender --channel --count --battery --low-power --no-ack --json --directory --help' ;;
        completions) words='bash zsh fish --directory --help' ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _offstage_gateway offstage-gateway
