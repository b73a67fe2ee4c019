/** node:tls error codes of an untrusted certificate chain. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
])

/** Why no connection to a trunk came about, as an operator understands it. @param where host and port */
export function connectFaultOf(error: unknown, where: string): string {
  const { code = '', message = String(error), reason } = error as { code?: string; message?: string; reason?: string }
  const certificate = `the certificate of "${where}"`
  if (UNTRUSTED.has(code)) {
    return `${certificate} is signed by nobody we trust; set the trunk's tls_ca to the certificate of its authority`
  }
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `${certificate} is for another name; write the host as the certificate has it (${reason ?? message})`
    case 'CERT_HAS_EXPIRED':
      return `${certificate} has expired; the trunk has to renew it`
    case 'CERT_NOT_YET_VALID':
      return `${certificate} is not valid yet; look at this machine's clock`
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return `"${where}" does not speak TLS; look at the trunk's port and transport`
    case 'ECONNREFUSED':
      return `nothing listens at "${where}"`
    case 'ETIMEDOUT':
      return `"${where}" does not answer`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `no way leads to "${where}" from this machine`
    case 'ECONNRESET':
    case 'EPIPE':
      return `"${where}" closed the connection`
    default:
      // What OpenSSL says begins with an address in memory; its last words are for people.
      return /^(?:ERR_SSL|ERR_OSSL)/.test(code) || /:error:[0-9A-F]{8}:/i.test(message)
        ? `"${where}" and we came to no TLS connection: ${reason ?? lastWords(message)}`
        : (message.split('\n')[0] ?? '').slice(0, 200)
  }
}

/** `C08CE5CFDD7F0000:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../x.c:1590:…` → its fifth part. */
function lastWords(message: string): string {
  return message.split(':')[5] ?? 'the handshake failed'
}

/** Why a peer that connected to us got no TLS connection. */
export function handshakeFaultOf(error: Error & { code?: string }): string {
  const { code = '' } = error
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_\w+)$/.test(code)) {
    return `The peer does not trust our certificate, which the plugin's option tls names (${code})`
  }
  if (/^ERR_SSL_(HTTP_REQUEST|WRONG_VERSION_NUMBER)$/.test(code)) return 'The peer speaks no TLS, on the port of TLS'
  return `The peer and we came to no TLS connection (${code || error.message})`
}
