"""Authentication and authorization: TLS, SASL and ACLs, with the rules of Kafka's broker.

authorizer           the permissions of ACLs (`wire.acls`), as in StandardAuthorizer; ACLs of clients are stored
sasl                 passwords, and the login of a connection, as in SaslServerAuthenticator
principals           the principal of a client certificate
settings, addresses  the broker's settings, and the addresses that they allow to listen on
access_file          the file of users and ACLs
security             all of it, as the server uses it, with its TLS context
"""
