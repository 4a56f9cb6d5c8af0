# Completion of ddbfs for fish; printed by `ddbfs completion fish`.

# ddbfs itself says what may stand at the cursor: the first line what kind of words, then one a line.
function __ddbfs_complete
    set -l words (commandline -opc)
    set -l raw (commandline -ct)
    set -l typed (string unescape -- $raw; or string unescape -- $raw\'; or string unescape -- $raw\")
    set -l answer (command $words[1] completion fish -- $words[2..] "$typed" 2>/dev/null)
    switch "$answer[1]"
        case files
            set -l option (string match -r -- '^--[^=]*=' $typed)
            string replace -r -- '^' "$option" (__fish_complete_path (string replace -- "$option" '' $typed))
        case folders
            __fish_complete_directories "$typed" ''
        case '*'
            string join -- \n $answer[2..]
    end
end
complete -c ddbfs -f -k -a '(__ddbfs_complete)'
