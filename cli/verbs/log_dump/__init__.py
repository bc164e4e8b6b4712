"""What `kohort log dump` reads, and the forms it gives it."""
