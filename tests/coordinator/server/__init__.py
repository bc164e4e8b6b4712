"""The server, in the process of the tests and over real sockets."""
