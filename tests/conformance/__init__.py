"""One table of requests, played over the wire to a real broker and to `kohort serve`, and the answers compared."""
