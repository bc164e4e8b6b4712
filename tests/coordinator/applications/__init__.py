"""Real applications on a real broker and on `kohort serve`, with the same checks (`make applications`)."""
