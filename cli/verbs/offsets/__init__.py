"""`kohort offsets`: the verbs that look after committed offsets, a file each."""
