# Completion of rosterctl for fish 3 and later.
# Written by: rosterctl completion fish
function __rosterctl_ask # sets what to offer; fails where fish completes a file by itself
    set -g __rosterctl_found
    set -l words (commandline -opc)
    # Without its quotes, of which one may be open.
    set -l current (commandline -ct | string replace -ar '["\'\\\\]' '')
    set -l program rosterctl
    if string match -q '*/*' -- $words[1]; and test -x "$words[1]"
        set program $words[1]
    end
    set -e words[1]
    set -l lines (command $program __complete $words "$current" 2>/dev/null </dev/null)
    set -l first (string split -m 1 \t -- "$lines[1]")
    set -e lines[1]
    switch "$first[1]"
        case ':files'
            return 1
        case ':folders'
            set -l path (string sub -s (math (string length -- "$first[2]") + 1) -- "$current")
            set __rosterctl_found $first[2](__fish_complete_directories $path '')
        case ':*'
            set __rosterctl_found $lines
    end
    return 0
end

complete -c rosterctl -e
complete -c rosterctl -n __rosterctl_ask -f -k -a '$__rosterctl_found'
