"""RE2/J 1.8, the broker's regex engine: what it takes, what that means for topic names, and what it costs."""
