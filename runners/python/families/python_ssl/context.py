"""The context of Python's module ssl, which drivers written in Python encrypt with."""

import ssl


def context(options):
    """Checks what `tls` names, by the given authorities only; shows the client's own certificate if there is one."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = options["tls"] == "verify-full"
    if options.get("tls_ca"):
        made.load_verify_locations(options["tls_ca"])
    else:
        made.verify_mode = ssl.CERT_NONE
    if options.get("tls_cert"):
        made.load_cert_chain(options["tls_cert"], options["tls_key"])
    return made
