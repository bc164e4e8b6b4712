"""The records of a broker's log: `kohort log dump` prints them, `kohort log verify` checks them."""
