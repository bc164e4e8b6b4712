# Completion of kohort and kohort-consumer-groups in fish. Generated: `kohort completion fish` prints it.
#
# Commands, options and their values stand in the tables below; names of groups, topics, members and contexts come
# from `kohort _complete`, which answers within 300 ms or not at all.

# TABLES

# A word without its quotes. Only plain variables are expanded; nothing is run.
function __kohort_plain
    set -l name (string match --regex --groups-only -- '^"?\$([A-Za-z_][A-Za-z0-9_]*)"?$' $argv[1])
    if test -n "$name"
        echo -- $$name
    else
        string replace --regex -- '^~(?=/)' "$HOME" $argv[1]
    end
end

# Find out where the cursor is: __kohort_entry is what the tables say of the word there, `commands` or `options`;
# __kohort_prefix is the part of the word that stays.
function __kohort_look
    set -g __kohort_entry options
    set -g __kohort_prefix ''
    set -g __kohort_sources
    set -g __kohort_typed
    set -g __kohort_given
    set -g __kohort_guarded ''
    set -l tokens (commandline --tokenize --current-process --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -g __kohort_program (__kohort_plain $tokens[1])
    set -g __kohort_path kohort
    if string match --quiet -- '*kohort-consumer-groups' $__kohort_program
        set __kohort_path kohort-consumer-groups
    end
    set -l pending ''
    set -l ended ''
    __kohort_spec $__kohort_path
    for token in $tokens[2..-1]
        set -l word (__kohort_plain $token)
        if test -n "$pending"
            set -l value (__kohort_value $__kohort_path $pending)
            set -l source (__kohort_source $pending)
            set pending ''
            if not string match --quiet -- '\?*' "$value"; or not string match --quiet -- '-*' $word
                test -n "$source"; and set -a __kohort_sources $source $word
                continue
            end
        end
        if test -n "$ended"; or not string match --quiet --regex -- '^-.' $word
            if test (count $__kohort_commands) -gt 0
                set __kohort_path "$__kohort_path $word"
                if not __kohort_spec $__kohort_path
                    set __kohort_entry any
                    return
                end
            else
                set -a __kohort_typed $word
            end
        else if test "$word" = --
            set ended 1
        else if string match --quiet --regex -- '^--[^=]+=' $word
            set -l halves (string split --max 1 = -- $word)
            set -a __kohort_given $halves[1]
            set -l source (__kohort_source $halves[1])
            test -n "$source"; and set -a __kohort_sources $source $halves[2]
        else
            set -a __kohort_given $word
            if test -n "$(__kohort_value $__kohort_path $word)"
                set pending $word
            else if string match --quiet --regex -- '^-[^-].' $word
                set -l source (__kohort_source (string sub --length 2 -- $word))
                test -n "$source"; and set -a __kohort_sources $source (string sub --start 3 -- $word)
            end
        end
    end

    if test -n "$pending"
        set -l value (__kohort_value $__kohort_path $pending)
        if not string match --quiet -- '\?*' $value; or not string match --quiet -- '-*' $current
            set __kohort_entry (string trim --left --chars '?' -- $value)
            return
        end
    end
    if test -z "$ended"; and string match --quiet --regex -- '^--[^=]+=' $current
        set -l option (string split --max 1 = -- $current)[1]
        set __kohort_entry (string trim --left --chars '?' -- (__kohort_value $__kohort_path $option))
        set __kohort_prefix $option=
        return
    end
    if test (count $__kohort_commands) -gt 0; and not string match --quiet -- '-*' $current
        set __kohort_entry commands
        return
    end
    set -l value ''
    set -l position (math (count $__kohort_typed) + 1)
    if test $position -le (count $__kohort_arguments)
        set value $__kohort_arguments[$position]
    else if string match --quiet -- '+*' "$__kohort_arguments[-1]"
        set value $__kohort_arguments[-1]
    end
    if test -n "$ended"; or begin
            not string match --quiet -- '-*' $current
            and test -n "$value"
        end
        test -z "$ended"; and set __kohort_guarded 1
        set __kohort_entry (string trim --left --chars + -- $value)
    end
end

# Whether a file is wanted, which fish itself completes.
function __kohort_wants_file
    __kohort_look
    test "$__kohort_entry" = files
end

# Names of a kind that a source knows, with their descriptions.
function __kohort_ask
    set -l program kohort
    switch "$__kohort_program"
        case '*/kohort'
            set program $__kohort_program
        case '*/kohort-consumer-groups'
            set program (string replace --regex -- '[^/]*$' kohort $__kohort_program)
    end
    set -l found (command $program _complete $argv[1] $__kohort_sources -- $__kohort_typed 2>/dev/null </dev/null)
    test -n "$__kohort_guarded"; and set found (string match --invert -- '-*' $found)
    string join \n -- $__kohort_prefix$found
end

# What __kohort_look found, as fish takes it: a line each, a description behind a tab.
function __kohort_offer
    __kohort_look
    set -l known (string split --no-empty ' ' -- $__kohort_entry)
    switch "$known[1]"
        case commands
            string join \n -- $__kohort_commands
        case options
            for line in $__kohort_options
                set -l halves (string split \t -- $line)
                set -l name (string trim --right --chars '*' -- $halves[1])
                if test $name != $halves[1]; or not contains -- $name $__kohort_given
                    printf '%s\t%s\n' $name $halves[2]
                end
            end
        case directories
            set -l current (commandline --current-token --cut-at-cursor)
            set -l typed (string sub --start (math (string length -- "$__kohort_prefix") + 1) -- $current)
            string join \n -- $__kohort_prefix(__fish_complete_directories "$typed" '')
        case words
            string join \n -- $__kohort_prefix$known[2..-1]
        case list
            set -l current (commandline --current-token --cut-at-cursor)
            set -l before (string match --regex -- '.*,' $current)
            test -n "$before"; or set before $__kohort_prefix
            string join \n -- "$before"$known[2..-1]
        case ask
            __kohort_ask $known[2]
    end
end

for program in kohort kohort-consumer-groups
    complete --command $program --no-files
    complete --command $program --condition __kohort_wants_file --force-files
    complete --command $program --no-files --arguments '(__kohort_offer)'
end
