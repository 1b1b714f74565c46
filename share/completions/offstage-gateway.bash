_offstage_gateway_offer() {
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
# Completion for offstage-gateway(1), made of its table of commands.
_offstage_gateway() {
    local word=${COMP_WORDS[COMP_CWORD]} command= first= index count=0
    local option= options=' '
    local -a words=() list=()
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        case ${COMP_WORDS[index]} in
            --directory|--host|--key-id|--team|--listen|--devices|--metrics|--topics|--environment|--public|--lines|--topic|--alert|--data|--payload|--type|--priority|--expiration|--collapse-id|--ca|--key|--apns-id|--device|--state|--since|--until|--enrolment-file|--identity|--sender|--channel|--count|--battery)
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
        esac
        _offstage_gateway_offer "$word" "${list[@]}"
        return
    fi
    case $command in
        '') words=(--json --directory --help --version) list=(init serve stats backup keys topics devices send log device completions help) ;;
        help) words=() list=(init serve stats backup keys topics devices send log device completions settings) ;;
        init) words=(--host --key-id --team --json --directory --help) ;;
        serve) words=(--listen --devices --metrics --json --directory --help) ;;
        stats) words=(--json --directory --help) ;;
        backup) words=(--force --json --directory --help) ;;
        keys) words=(--team --topics --environment --public --json --directory --help) ;;
        topics) words=(--team --json --directory --help) ;;
        devices) words=(--lines --json --directory --help) ;;
        send) words=(--topic --alert --silent --data --payload --type --priority --expiration --collapse-id --host --ca --key --key-id --team --json --directory --help) ;;
        log) words=(--apns-id --device --topic --state --since --until --lines --json --directory --help) ;;
        device) words=(--host --ca --enrolment-file --identity --web-push --sender --channel --count --battery --low-power --no-ack --json --directory --help) ;;
        completions) words=(--directory --help) ;;
    esac
    if [[ $word == -* ]]; then list=("${words[@]}"); fi
    if [[ $word != -* ]]; then
        case $command:$count in
            keys:0) list=(add remove quota certificate revoke readmit revoked) ;;
            topics:0) list=(add set any remove) ;;
            devices:0) list=(remove) ;;
            completions:0) list=(bash zsh fish) ;;
        esac
    fi
    _offstage_gateway_offer "$word" "${list[@]}"
}
complete -o default -F _offstage_gateway offstage-gateway
