# Completion of kohort and kohort-consumer-groups in fish: `kohort completion fish` prints it.
# What may follow is asked of kohort itself: a line that says of what kind it is, and a line for each word.

function __kohort_complete
    set -l program (commandline --tokenize --current-process --cut-at-cursor)[1]
    switch "$program"
        case '*/kohort' '*/kohort-consumer-groups'
            set program (string replace --regex -- '^~(?=/)' "$HOME" $program)
            set program (string replace --regex -- '[^/]*$' kohort $program)
        case '*'
            set program kohort
    end
    set -l line (commandline --current-process --cut-at-cursor | string collect)
    set -l lines (_KOHORT_COMPLETE=fish command $program "$line" 2>/dev/null </dev/null)
    set -l current (commandline --current-token --cut-at-cursor)
    set -l prefix (string match --regex -- '^--[^=]+=' $current)
    set -l typed (string sub --start (math (string length -- "$prefix") + 1) -- $current)
    switch "$lines[1]"
        case files
            string join \n -- "$prefix"(__fish_complete_path "$typed" '')
        case directories
            string join \n -- "$prefix"(__fish_complete_directories "$typed" '')
        case '*'
            string join \n -- $lines[2..-1]
    end
end

for program in kohort kohort-consumer-groups
    complete --command $program --no-files --arguments '(__kohort_complete)'
end
