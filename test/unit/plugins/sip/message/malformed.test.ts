import t from 'tap'
import { answerToMalformed } from '../../../../../plugins/sip/message/malformed.ts'
import { parseMessage } from '../../../../../plugins/sip/message/parser.ts'
import { tortureMessage } from '../../../../support/sip/torture-message.ts'

t.test('a request that can not be read is told so, as far as it can be seen whose it is', async (t) => {
  for (const name of ['badinv01', 'clerr', 'scalar02', 'ltgtruri', 'baddate', 'badvers']) {
    const answer = answerToMalformed(tortureMessage(name), name === 'badvers' ? 505 : 400)
    t.match(String(answer), name === 'badvers' ? /^SIP\/2\.0 505 / : /^SIP\/2\.0 400 Bad Request\r\n/, name)
    t.match(String(answer), /^Via: /m, name)
    t.match(String(answer), /^To: .*;\s*tag=/m, name)
  }
  const folded =
    'OPTIONS sip:a@b SIP/2.0\r\nv: SIP/2.0/UDP a;\r\n branch=z9hG4bKx\r\nf: <sip:a@a>;tag=1\r\nt: <sip:b@b>\r\ni: 1\r\nCSeq: 1 OPTIONS\r\n\r\n'
  const answer = parseMessage(answerToMalformed(Buffer.from(folded), 400)!)
  t.match(answer, { status: 400, callId: '1', cseq: { number: 1 } })
  t.equal(answer.vias[0]?.params.get('branch'), 'z9hG4bKx')
})

t.test('responses, ACKs and what is no message are not answered', async (t) => {
  t.equal(answerToMalformed(tortureMessage('bigcode'), 400), undefined)
  t.equal(answerToMalformed(tortureMessage('insuf'), 400), undefined, 'whose it is can not be seen')
  t.equal(answerToMalformed(Buffer.from(String(tortureMessage('badinv01')).replace(/^INVITE/, 'ACK')), 400), undefined)
  t.equal(answerToMalformed(Buffer.alloc(5_000), 400), undefined)
  t.equal(answerToMalformed(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), 400), undefined)
})
