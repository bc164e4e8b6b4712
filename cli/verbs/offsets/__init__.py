"""`kohort offsets`: the verbs that manage committed offsets."""
