import t from 'tap'
import { labelOf } from '../../../api/calls/ladder.ts'
import { causeOf } from '../../../plugins/sip/call/outcome.ts'
import { parseReplaces } from '../../../plugins/sip/dialog/replaces.ts'
import { readReport } from '../../../plugins/sip/media/rtcp.ts'
import { chooseChallenge } from '../../../plugins/sip/message/digest.ts'
import { MessageFraming } from '../../../plugins/sip/message/framing.ts'
import { parseCSeq, parseHostPort } from '../../../plugins/sip/message/grammar.ts'
import { answerToMalformed } from '../../../plugins/sip/message/malformed.ts'
import type { SipRequest } from '../../../plugins/sip/message/message.ts'
import { partsOf } from '../../../plugins/sip/message/multipart.ts'
import { parseMessage } from '../../../plugins/sip/message/parser.ts'
import { serializeRequest } from '../../../plugins/sip/message/serializer.ts'
import { SignalLog } from '../../../plugins/sip/trace/signal-log.ts'
import { responseTo } from '../../../plugins/sip/transaction/server-transaction.ts'
import type { Flow } from '../../../plugins/sip/transport/flow.ts'
import { opusDurationMs } from '../../../runtime/media/codecs/opus-packet.ts'
import { readRtp } from '../../../runtime/media/line/rtp-packet.ts'
import { DtmfReceiver } from '../../../runtime/media/tones/dtmf.ts'
import { growsWithItsInput } from '../../support/source/growth.ts'

/** What anybody sends to a SIP or RTP port is read on the loop that carries the audio of all calls. */

const LINES = [
  'INVITE sip:a@b.example SIP/2.0',
  'Via: SIP/2.0/UDP b.example;branch=z9hG4bK1;rport',
  'Max-Forwards: 70',
  'From: <sip:a@b.example>;tag=1',
  'To: <sip:c@b.example>',
  'Call-ID: 1@b.example',
  'CSeq: 1 INVITE',
]
const tokens = ['\r\n', '\r\n ', '\r\nX: y', 'X:', ';', ',', '"', '<', '\\', 'v:', '\t']
const message = (head: string, body = '') =>
  `${LINES.join('\r\n')}${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
/** Where else in a message somebody can put so much. */
const PLACES: readonly [name: string, wrap: (text: string) => string][] = [
  ['the lines of the head', (text) => message(text)],
  ['the name of a header', (text) => message(`\r\nX${text}Y: z`)],
  ['the value of a header', (text) => message(`\r\nX: ${text}`)],
  ['a folded value', (text) => message(`\r\nX: y\r\n ${text}`)],
  ['a Contact', (text) => message(`\r\nContact: ${text}`)],
  ['a Via', (text) => message(`\r\nVia: SIP/2.0/UDP c.example;x=${text}`)],
  ['a body', (text) => message('\r\nContent-Type: application/sdp', text)],
  ['the start line', (text) => message('').replace('a@b.example SIP', `${text} SIP`)],
  ['nothing else', (text) => text],
]
const local = { host: '192.0.2.1', port: 5060 }
const flow: Flow = { protocol: 'udp', address: '192.0.2.2', port: 5060, local, isOpen: true, send: () => undefined }

t.test('whole messages', async (t) => {
  for (const [place, wrap] of PLACES) {
    const at = { tokens, wrap }
    await growsWithItsInput(t, `parseMessage, ${place}`, (text) => parseMessage(Buffer.from(text, 'latin1')), at)
    await growsWithItsInput(t, `answerToMalformed, ${place}`, (text) => answerToMalformed(Buffer.from(text), 400), at)
  }
})

t.test('messages that are read and answered', async (t) => {
  for (const [place, wrap] of PLACES.slice(2, 7)) {
    const answered = (text: string) => {
      const request = parseMessage(Buffer.from(text, 'latin1')) as SipRequest
      new SignalLog(() => 0).note('in', Buffer.from(text, 'latin1'), flow)
      serializeRequest({ ...request, uri: request.uri.text })
      return responseTo(request, flow, 404, 'x')
    }
    await growsWithItsInput(t, `an answer, ${place}`, answered, { tokens, wrap })
  }
})

t.test('a stream byte by byte', async (t) => {
  for (const [place, wrap] of [PLACES[0]!, PLACES[3]!, PLACES[6]!, PLACES[8]!]) {
    const streamed = (text: string) => {
      const framing = new MessageFraming(() => undefined)
      const bytes = Buffer.from(text, 'latin1')
      for (let at = 0; at < bytes.length; at++) framing.push(bytes.subarray(at, at + 1))
    }
    await growsWithItsInput(t, `MessageFraming, ${place}`, streamed, { tokens: ['\r\n', '\r\n ', 'X:'], wrap })
  }
})

t.test('values of headers', async (t) => {
  const framed = (text: string) => [{ name: 'reason', value: text }]
  await growsWithItsInput(t, 'parseCSeq', parseCSeq, { tokens: ['1 ', '\t'] })
  await growsWithItsInput(t, 'parseHostPort', parseHostPort, { tokens: [':', '[', 'a.', ' :'] })
  await growsWithItsInput(t, 'chooseChallenge', (text) => chooseChallenge([`Digest ${text}`]), {
    tokens: ['"', 'a=', ','],
  })
  await growsWithItsInput(t, 'parseReplaces', parseReplaces, { tokens: [';', 'to-tag=', '='] })
  await growsWithItsInput(t, 'causeOf', (text) => causeOf({ headers: framed(text) }), {
    tokens: ['Q.850', ';cause=', ',', 'Q.850;', ' ;'],
  })
  await growsWithItsInput(t, 'labelOf', labelOf, { tokens: ['CSeq: 1', 'c: ', '\n', 'SIP/2.0 200'] })
  await growsWithItsInput(t, 'partsOf', (text) => partsOf('multipart/mixed;boundary=x', Buffer.from(text, 'latin1')), {
    tokens: ['\r\n--x', '\r\n', 'content-type', 'content-type: ', ';handling='],
  })
  await growsWithItsInput(t, 'a boundary', (text) => partsOf(`multipart/mixed;${text}`, Buffer.from('--x')), {
    tokens: ['boundary=', ';', '"'],
  })
})

t.test('packets', async (t) => {
  const bytes = { tokens: ['\0', '\x80', '\x80\xc8\0\x01', '\x80\xc9\0\0', '\xff', '\x90', '\xfc'] }
  const latin = (text: string) => Buffer.from(text, 'latin1')
  await growsWithItsInput(t, 'readRtp', (text) => readRtp(latin(text)), bytes)
  await growsWithItsInput(t, 'readReport', (text) => readReport(latin(text), 1), bytes)
  await growsWithItsInput(t, 'opusDurationMs', (text) => opusDurationMs(latin(text)), bytes)
  const keys = (text: string) => {
    const receiver = new DtmfReceiver()
    for (let at = 0; at + 4 < text.length; at += 4) receiver.push(latin(text.slice(at, at + 4)), at)
  }
  await growsWithItsInput(t, 'DtmfReceiver', keys, bytes)
})
