# shellcheck shell=bash
# Completion of ddbfs for bash; printed by `ddbfs completion bash`.

# ddbfs itself says what may stand at the cursor: the first line what kind of words, then one a line.
_ddbfs() {
    local answer
    mapfile -t answer < <("$1" completion bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    COMPREPLY=("${answer[@]:1}")
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    case ${answer[0]} in
    files) compopt -o default ;;
    folders) compopt -o dirnames ;;
    paths) compopt -o filenames ;;
    esac
    [[ ${#COMPREPLY[@]} -eq 1 ]] || return 0
    # A path goes on behind its slash.
    [[ ${COMPREPLY[0]} != *[/=] ]] || compopt -o nospace
    # bash quotes names as those of its own files, of which there may be none, or a folder, called so.
    if [[ ${COMP_WORDS[COMP_CWORD]} != [\'\"]* ]]; then
        compopt +o filenames
        printf -v "COMPREPLY[0]" %q "${COMPREPLY[0]}"
    fi
}
complete -F _ddbfs ddbfs
