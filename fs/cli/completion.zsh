#compdef ddbfs
# Completion of ddbfs for zsh; printed by `ddbfs completion zsh`.

# ddbfs itself says what may stand at the cursor: the first line what kind of words, then one a line.
_ddbfs() {
    local -a answer goes_on goes_on_shown ends ends_shown
    local line word shown
    answer=("${(@f)$($words[1] completion zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    case $answer[1] in
    files) compset -P '--*='; _files; return ;;
    folders) _files -/; return ;;
    esac
    for line in $answer[2,-1]; do
        word=${line%%$'\t'*} shown=${line%%$'\t'*}
        [[ $answer[1] == paths ]] && shown=${${word%/}:t}${${(M)word%/}}
        [[ $line == *$'\t'* ]] && shown+="  -- ${line#*$'\t'}"
        if [[ $word == *[/=] ]]; then
            goes_on+=("$word") goes_on_shown+=("$shown")
        else
            ends+=("$word") ends_shown+=("$shown")
        fi
    done
    compadd -V ddbfs -S '' -d goes_on_shown -a goes_on
    compadd -V ddbfs -d ends_shown -a ends
}
if [[ $funcstack[1] == _ddbfs ]]; then
    _ddbfs "$@"
else
    compdef _ddbfs ddbfs
fi
