"""What the groups of the sample fleet went through in the days before: played by the embedded coordinator."""
