# Completion of rosterctl for fish 3 and later.
# Written by: rosterctl completion fish
function __rosterctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program rosterctl
    if string match -q '*/*' -- $words[1]; and test -x "$words[1]"
        set program $words[1]
    end
    set -e words[1]
    set -l lines (command $program __complete $words "$current" 2>/dev/null </dev/null)
    # What stays of the word being typed stands before a path, too.
    set -l kept (string split -m 1 \t -- $lines[1])[2]
    set -l rest (string sub -s (math (string length -- "$kept") + 1) -- "$current")
    switch "$lines[1]"
        case ':files*'
            printf '%s\n' $kept(__fish_complete_path $rest)
        case ':folders*'
            printf '%s\n' $kept(__fish_complete_directories $rest '')
        case ':*'
            set -e lines[1]
            printf '%s\n' $lines
    end
end

complete -c rosterctl -e
complete -c rosterctl -f -k -a '(__rosterctl_complete)'
