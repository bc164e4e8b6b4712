"""Who a client is and what it may do: TLS, SASL and ACLs, with the rules of Kafka's broker.

authorizer           what access control entries (`wire.acls`) allow, as StandardAuthorizer does
users, sasl          passwords, and the login of a connection, as SaslServerAuthenticator does
tls, principals      contexts, and who a client is by its certificate
settings, addresses  the broker's settings, and which addresses they allow to listen on
access_file          the file of users and entries
security             all of it, as the server has it
"""
