"""What each of Kafka's keys of SSL and SASL means for a controller."""

from __future__ import annotations

from typing import Final

from kraftctl.cli.inspect.config_meanings import Meanings

SSL: Final[Meanings] = {
    "ssl.keystore.type": "The format of the keystore.",
    "ssl.keystore.location": "The file with private key and certificates, which clients are shown. A new"
    " content is"
    " used without a restart.",
    "ssl.keystore.password": "The password of that file. PEM has none.",
    "ssl.key.password": "The password of its private key.",
    "ssl.keystore.key": "The private key as PEM, in place of a file.",
    "ssl.keystore.certificate.chain": "The certificates of that key, as PEM.",
    "ssl.truststore.type": "The format of the truststore.",
    "ssl.truststore.location": "The file with the authorities that may sign certificates of clients and"
    " controllers. A new content is used without a restart.",
    "ssl.truststore.password": "The password of that file. PEM has none.",
    "ssl.truststore.certificates": "These authorities as PEM, in place of a file.",
    "ssl.client.auth": "Whether a client must, may or need not show a certificate. A listener with SASL_SSL"
    " obeys"
    " it only with its prefix.",
    "ssl.principal.mapping.rules": "Rules by which a subject becomes the name of a principal.",
    "ssl.endpoint.identification.algorithm": "Whether the names of another controller are checked; empty:"
    " no.",
    "ssl.enabled.protocols": "The versions of TLS that are offered.",
    "ssl.protocol": "With TLSv1.2, this controller connects to others without TLSv1.3.",
    "ssl.cipher.suites": "Suites of TLS 1.2 by their names in Java, which turn TLS 1.3 off.",
    "ssl.allow.dn.changes": "Whether a new certificate may be for another subject (KIP-978).",
    "ssl.allow.san.changes": "Whether a new certificate may lack names of the former one (KIP-978).",
    "ssl.engine.factory.class": "Only Kafka's default is built in, another is refused.",
}

SASL: Final[Meanings] = {
    "sasl.enabled.mechanisms": "The mechanisms that a listener offers. Kafka's default is refused: name"
    " another.",
    "sasl.mechanism.controller.protocol": "The mechanism by which this controller authenticates to others."
    " Kafka's"
    " default is refused: name another.",
    "sasl.jaas.config": "The login module with names and passwords, with the prefix of listener and"
    " mechanism.",
    "sasl.server.max.receive.size": "The most that a client may send before it is authenticated.",
    "connections.max.reauth.ms": "The longest life of an authentication (KIP-368); 0: no limit.",
    "sasl.server.callback.handler.class": "OAUTHBEARER needs it, with Kafka's class for signed tokens."
    " Others are refused.",
    "sasl.client.callback.handler.class": "Only Kafka's default is built in, another is refused.",
    "sasl.login.callback.handler.class": "OAUTHBEARER needs it, with Kafka's class that asks an issuer."
    " Others are refused.",
    "sasl.login.class": "Only Kafka's default is built in, another is refused.",
}

OAUTHBEARER: Final[Meanings] = {
    "org.apache.kafka.sasl.oauthbearer.allowed.urls": "The URLs of issuers that may be asked: in Kafka a"
    " property"
    " of the JVM.",
    "org.apache.kafka.sasl.oauthbearer.allowed.files": "The files that assertions may come from: in Kafka a"
    " property"
    " of the JVM.",
    "sasl.oauthbearer.jwks.endpoint.url": "Where a listener gets the keys that tokens are verified with.",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": "How often these keys are fetched again.",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": "The first pause after such a fetch has failed.",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "The longest such pause.",
    "sasl.oauthbearer.expected.audience": "The audiences of which a token must name one. Without it, a"
    " token that names any is refused.",
    "sasl.oauthbearer.expected.issuer": "Tokens must be from this issuer, if it is named.",
    "sasl.oauthbearer.clock.skew.seconds": "How far the clocks of issuer and controller may differ.",
    "sasl.oauthbearer.scope.claim.name": "The claim with the scope of a token.",
    "sasl.oauthbearer.sub.claim.name": "The claim with the name of the user.",
    "sasl.oauthbearer.jwt.validator.class": "Kafka's class by which tokens are verified; each of them is"
    " built in.",
    "sasl.oauthbearer.jwt.retriever.class": "Kafka's class by which this controller gets its own token: by"
    " a secret,"
    " from a file, or by an assertion.",
    "sasl.oauthbearer.token.endpoint.url": "Where this controller gets the token that it shows to others.",
    "sasl.oauthbearer.client.credentials.client.id": "The name of this client at the issuer.",
    "sasl.oauthbearer.client.credentials.client.secret": "The secret of this client at the issuer.",
    "sasl.oauthbearer.scope": "The scope that the token is asked for.",
    "sasl.oauthbearer.header.urlencode": "Whether name and secret are URL-encoded before they are sent.",
    "sasl.oauthbearer.assertion.algorithm": "How an assertion is signed.",
    "sasl.oauthbearer.assertion.claim.aud": "The claim aud of an assertion.",
    "sasl.oauthbearer.assertion.claim.iss": "The claim iss of an assertion.",
    "sasl.oauthbearer.assertion.claim.sub": "The claim sub of an assertion.",
    "sasl.oauthbearer.assertion.claim.exp.seconds": "How long an assertion is valid.",
    "sasl.oauthbearer.assertion.claim.nbf.seconds": "How long before now its validity begins.",
    "sasl.oauthbearer.assertion.claim.jti.include": "Whether each assertion has an id of its own.",
    "sasl.oauthbearer.assertion.file": "A file with an assertion that another program has signed.",
    "sasl.oauthbearer.assertion.private.key.file": "The file with the key that assertions are signed with.",
    "sasl.oauthbearer.assertion.private.key.passphrase": "The password of that key.",
    "sasl.oauthbearer.assertion.template.file": "A file with further claims and headers of an assertion.",
    "sasl.login.connect.timeout.ms": "The time to connect to the issuer.",
    "sasl.login.read.timeout.ms": "The time to read its response.",
    "sasl.login.retry.backoff.ms": "The first pause after a request to it has failed.",
    "sasl.login.retry.backoff.max.ms": "The longest such pause.",
    "sasl.login.refresh.window.factor": "The part of a token's life after which a new one is asked for.",
    "sasl.login.refresh.window.jitter": "A random part of its life by which that is later.",
    "sasl.login.refresh.min.period.seconds": "The shortest time between two tokens.",
    "sasl.login.refresh.buffer.seconds": "How long before its end a new token has to be there.",
}
