import t from 'tap'
import { connectFaultOf, handshakeFaultOf } from '../../../../../plugins/sip/transport/connect-fault.ts'

const error = (code: string, more: object = {}) => Object.assign(new Error(`it failed with ${code}`), { code, ...more })

t.test('why a trunk can not be reached is said in words an operator can act on', async (t) => {
  const say = (code: string, more?: object) => connectFaultOf(error(code, more), 'sip.example.com:5061')
  for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']) {
    t.match(say(code), /^the certificate of "sip.example.com:5061" is signed by nobody we trust; set .* tls_ca/)
  }
  t.match(say('ERR_TLS_CERT_ALTNAME_INVALID', { reason: 'Host: x' }), /is for another name; .* \(Host: x\)$/)
  t.match(say('CERT_NOT_YET_VALID'), /clock/)
  t.match(say('ERR_SSL_WRONG_VERSION_NUMBER'), /"sip.example.com:5061" does not speak TLS/)
  t.match(say('ECONNREFUSED'), 'nothing listens at "sip.example.com:5061"')
  t.equal(say('EHOSTUNREACH'), 'no way leads to "sip.example.com:5061" from this machine')
  t.equal(say('EWEIRD'), 'it failed with EWEIRD')
})

t.test('what OpenSSL says of a handshake is told without its addresses', async (t) => {
  const message =
    'C08CE5CFDD7F0000:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../x.c:1590:SSL alert number 70\n'
  const told = connectFaultOf(
    Object.assign(new Error(message), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' }),
    'h:5061',
  )
  t.equal(told, '"h:5061" and we came to no TLS connection: tlsv1 alert protocol version')
})

t.test('why a peer came to no TLS connection with us is said, too', async (t) => {
  t.match(handshakeFaultOf(error('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')), /does not trust our certificate/)
  t.match(handshakeFaultOf(error('ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN')), /does not trust our certificate/)
  t.match(handshakeFaultOf(error('ERR_SSL_HTTP_REQUEST')), /speaks no TLS/)
  t.match(handshakeFaultOf(error('ECONNRESET')), /no TLS connection \(ECONNRESET\)/)
})
