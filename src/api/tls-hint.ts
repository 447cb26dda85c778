/** What to do about a TLS connection that could not be made, by the code of its error. */
export function tlsHint(code: string, origin: string, isService: boolean): string {
  const { hostname } = new URL(origin);
  const place = isService ? 'Check the base URL: rosterctl auth status' : 'The service named it.';
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return 'Its certificate is signed by nobody but itself. If it is yours, name its file in NODE_EXTRA_CA_CERTS.';
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return 'This machine does not know who issued its certificate. If that is an authority of your own, name its file in NODE_EXTRA_CA_CERTS.';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return `Its certificate is for another host than ${hostname}. ${place}`;
    case 'CERT_HAS_EXPIRED':
      return "Its certificate has expired. Check this machine's clock; if that is right, it has to be renewed.";
    case 'CERT_NOT_YET_VALID':
      return "Its certificate is not valid yet. Check this machine's clock: it may be behind.";
    case 'CERT_REVOKED':
      return 'Its certificate was revoked. Whoever runs it has to replace it.';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'ERR_SSL_HTTP_REQUEST':
      return `What answers there does not speak TLS: is the port right? ${place}`;
    case 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION':
    case 'ERR_SSL_UNSUPPORTED_PROTOCOL':
      return 'It offers no TLS of version 1.2 or newer. Whoever runs it has to.';
    default:
      return 'The other side broke off the handshake, or its certificate cannot be used. Whoever runs it has to look at it.';
  }
}
