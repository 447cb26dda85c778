/** What reads the line and offers words: the same for every table. */
export const fishEngine = `function __rosterctl_complete
    set -l typed (commandline -opc)
    set -l program rosterctl
    if string match -q '*/*' -- $typed[1]; and test -x "$typed[1]"
        set program $typed[1]
    end
    set -e typed[1]
    set -l cur (commandline -ct)
    set -l state (__rosterctl_walk $typed)
    set -l noun $state[1]
    set -l cmd $state[2]
    set -l wanted $state[3]
    set -l prefix ''
    set -l slot
    if test "$wanted" != -
        set slot (__rosterctl_flag $cmd $wanted)
        set -e slot[1 2]
    else if test "$state[4]" != ended; and string match -q -- '--*=*' $cur
        set -l flag (string replace -r '=.*' '' -- $cur)
        set prefix "$flag="
        set slot (__rosterctl_flag $cmd $flag)
        set -e slot[1 2]
        if test "$flag" = --json
            set slot fields list - -
        end
    else if test "$state[4]" != ended; and string match -q -- '-*' $cur
        __rosterctl_offer_flags $cmd $state[7..-1]
        return
    else if test "$noun" = -
        __rosterctl_names "$cur" (__rosterctl_words '')
        return
    else if test "$cmd" = -
        __rosterctl_names "$cur" (__rosterctl_words $noun)
        return
    else
        set slot (__rosterctl_arg $cmd $state[5])
    end
    # slot: kind, list or -, what ends a word or -, what to ask or -, then the choices
    set -l value (string sub -s (math (string length -- "$prefix") + 1) -- "$cur")
    switch "$slot[1]"
        case words
            __rosterctl_values "$prefix" "$value" $slot[2] $slot[3] $slot[5..-1] (__rosterctl_ask $program "$slot[4]" $typed)
        case fields
            set -l fields (__rosterctl_fields $cmd)
            __rosterctl_values "$prefix" "$value" $slot[2] $slot[3] $fields[2..-1] (__rosterctl_ask $program "$fields[1]" $typed)
        case topic
            __rosterctl_offer_topic "$cur" $state[5] $state[6]
        case file
            __rosterctl_paths "$prefix" (__fish_complete_path $value)
        case directory
            __rosterctl_paths "$prefix" (__fish_complete_directories $value '')
    end
end

# Reads the words before the cursor. Prints noun, command, the flag that waits for its value, ended,
# number of words after the command, the first of them, then the flags given; - stands for none.
function __rosterctl_walk
    set -l noun -
    set -l cmd -
    set -l wanted -
    set -l ended -
    set -l first -
    set -l count 0
    set -l given
    for word in $argv
        if test "$wanted" != -
            set wanted -
        else if test $ended = ended; or not string match -q -- '-?*' $word
            if test "$noun" = -
                set -l found (__rosterctl_noun $word)
                set noun $found[1]
                set cmd $found[2]
            else if test "$cmd" = -
                set cmd (__rosterctl_verb "$noun $word")
            else
                test $count -gt 0; or set first $word
                set count (math $count + 1)
            end
        else if test "$word" = --
            set ended ended
        else if string match -q -- '--*' $word
            set -l flag (__rosterctl_flag $cmd (string replace -r '=.*' '' -- $word))
            test "$flag[2]" = again; or set given $given $flag[1]
            if test "$flag[3]" != switch; and test "$flag[3]" != unknown; and not string match -q '*=*' -- $word
                set wanted $flag[1]
            end
        else
            # -qy are two switches, -pNAME is one flag with its value.
            set -l letters (string split '' -- (string sub -s 2 -- $word))
            for index in (seq (count $letters))
                set -l flag (__rosterctl_flag $cmd -$letters[$index])
                test "$flag[2]" = again; or set given $given $flag[1]
                if test "$flag[3]" != switch; and test "$flag[3]" != unknown
                    test $index -lt (count $letters); or set wanted $flag[1]
                    break
                end
            end
        end
    end
    printf '%s\\n' $noun $cmd $wanted $ended $count $first $given
end

# Own names first; what a thing is also called only where no own name fits.
function __rosterctl_names # the word so far, names, --, aliases
    set -l at (contains -i -- -- $argv)
    set -l names $argv[2..(math $at - 1)]
    if test "$argv[1]" = ''; or string match -qr -- '^'(string escape --style=regex -- $argv[1]) $names
        printf '%s\\n' $names
    else if test $at -lt (count $argv)
        printf '%s\\n' $argv[(math $at + 1)..-1]
    end
end

function __rosterctl_offer_topic # the word so far, words before it, the first of them
    if test $argv[2] -eq 0
        __rosterctl_topics
        __rosterctl_names "$argv[1]" (__rosterctl_words '')
    else if test $argv[2] -eq 1
        set -l found (__rosterctl_noun $argv[3])
        set -l verbs (__rosterctl_words $found[1])
        test (count $verbs) -lt 2; or __rosterctl_names "$argv[1]" $verbs
    end
end

function __rosterctl_offer_flags # command, flags given
    set -l own (__rosterctl_flags $argv[1])
    set -l names (string replace -r '\\t.*' '' -- $own)
    for line in $own
        contains -- (string replace -r '\\t.*' '' -- $line) $argv[2..-1]; or printf "%s\\n" $line
    end
    for line in (__rosterctl_global_flags)
        contains -- (string replace -r '\\t.*' '' -- $line) $argv[2..-1] $names; or printf "%s\\n" $line
    end
end

function __rosterctl_values # what stands before, the value so far, list or -, its end or -, choices
    set -l prefix $argv[1]
    set -l chosen
    set -l ends ''
    test "$argv[4]" = -; or set ends $argv[4]
    if test "$argv[3]" = list; and string match -q '*,*' -- $argv[2]
        set -l before (string replace -r '[^,]*$' '' -- $argv[2])
        set prefix $prefix$before
        set chosen (string split , -- $before)
    end
    for line in $argv[5..-1]
        set -l parts (string split -m 1 \\t -- $line)
        contains -- $parts[1] $chosen; and continue
        printf '%s\\t%s\\n' $prefix$parts[1]$ends "$parts[2]"
    end
end

function __rosterctl_paths
    for line in $argv[2..-1]
        printf "%s\\n" $argv[1]$line
    end
end

# Ids, profiles and field names, from what this machine remembers.
function __rosterctl_ask # program, kind or -, the words typed
    test "$argv[2]" = -; and return
    command $argv[1] __complete $argv[2] -- $argv[3..-1] 2>/dev/null </dev/null
end

complete -c rosterctl -e
complete -c rosterctl -f -k -a '(__rosterctl_complete)'
`;
