"""Commands about a whole fleet: what the pipeline is asked, and what is made of its answers."""
