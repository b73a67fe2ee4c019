import t from 'tap'
import { readEvents } from '../../../packages/plugin/server-sent-events.ts'
import { readMessage } from '../../../plugins/azure/messages.ts'
import { readRefusal } from '../../../plugins/google/endpoint.ts'
import { plivoDialect } from '../../../plugins/plivo/dialect.ts'
import { requireSignature as requirePlivo } from '../../../plugins/plivo/signature.ts'
import { elementOf, errorOf } from '../../../plugins/s3/xml.ts'
import { publicKeyOf, requireSignature as requireTelnyx } from '../../../plugins/telnyx/signature.ts'
import { readState } from '../../../plugins/telnyx/state.ts'
import { twilioDialect } from '../../../plugins/twilio/dialect.ts'
import { requireSignature as requireTwilio } from '../../../plugins/twilio/signature.ts'
import { AnswerDetector } from '../../../runtime/conversation/hearing/answer-detector.ts'
import { endingOf } from '../../../runtime/conversation/hearing/end-of-turn.ts'
import { LANGUAGES } from '../../../runtime/conversation/languages/index.ts'
import { Overlap } from '../../../runtime/conversation/replying/overlap.ts'
import { parsePrometheusText } from '../../../runtime/lib/prometheus-text.ts'
import { languagesOf } from '../../../runtime/plugin/catalogue.ts'
import { allowsHost, netEntryOf, parseNetRule } from '../../../runtime/plugin/grants/net-rule.ts'
import { estimateTokens, readChatText } from '../../../runtime/plugin-sdk/chat/chat-text.ts'
import { explainStatus } from '../../../runtime/plugin-sdk/provider-error.ts'
import { jsonEvents } from '../../../runtime/plugin-sdk/speech/json-events.ts'
import { withoutSecrets } from '../../../runtime/tools/masked.ts'
import { fillHeader, fillJson, fillUrl } from '../../../runtime/tools/template.ts'
import { signedHeaders } from '../../../runtime/webhooks/signature.ts'
import { growsWithItsInput } from '../../support/source/growth.ts'

/** What providers, carriers, servers of tools and callees answer is read on the loop of a voice worker or of the API. */

const streamed = (text: string, size: number): Response => {
  const bytes = Buffer.from(text)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + size))
      at += size
    },
  })
  return new Response(body)
}

t.test('streams of events', async (t) => {
  const tokens = ['data:', 'data: {}\n\n', '\n', '\r', '\r\n', 'data: [1]\n\n', 'event: x\n']
  const events = async (text: string, size: number) => {
    for await (const _ of readEvents(streamed(text, size)));
  }
  await growsWithItsInput(t, 'readEvents', (text) => events(text, 1_024), { tokens, most: 8_192 })
  await growsWithItsInput(t, 'readEvents, a line of many pieces', (text) => events(text, 16), {
    tokens: ['a'],
    wrap: (text) => text.replaceAll('\n', 'b'),
    most: 32_768,
  })
  const objects = async (text: string) => {
    for await (const _ of jsonEvents(streamed(text, 1_024)));
  }
  await growsWithItsInput(t, 'jsonEvents', objects, { tokens, most: 8_192 })
  await growsWithItsInput(t, 'jsonEvents, an object', objects, {
    tokens: ['"', '\\', '[', '{"a":'],
    wrap: (text) => `data: ${text}\n\n`,
  })
})

t.test('refusals and messages', async (t) => {
  const provider = { title: 'A', keyVariable: 'A_KEY' }
  const words = { tokens: ['"msg":', "'msg': '", "'", '`', 'sk-', 'bearer ', '…', ' …', 'a1', '(', '_'] }
  await growsWithItsInput(t, 'explainStatus', (text) => explainStatus(provider, 400, text), words)
  await growsWithItsInput(t, 'readRefusal', readRefusal, { tokens: ['{"error":', '{"message":"', ...words.tokens] })
  await growsWithItsInput(t, 'Azure', readMessage, { tokens: ['path:', 'path:\r\n', '\r\n', '\r\n\r\n'] })
  await growsWithItsInput(t, 'S3', (text) => [elementOf(text, 'Key'), errorOf(text)], {
    tokens: ['<Key>', '</Key>', '<', '&', '&amp;', '<Error>'],
  })
  await growsWithItsInput(t, 'figures', parsePrometheusText, {
    tokens: ['a{', 'a="', '"} ', '} ', '\\', ',', 'a{b="c"} 1\n', ' 1'],
  })
  const json = { tokens: ['{"event":"start","start":', '"', '\\', '[', '\\u0000'] }
  await growsWithItsInput(t, 'Twilio', (text) => twilioDialect.read(text), json)
  await growsWithItsInput(t, 'Plivo', (text) => plivoDialect.read(text), json)
  await growsWithItsInput(t, 'headers of Plivo', (text) => plivoDialect.read(text), {
    tokens: ['token', 'token ', '{', ';token=', "'", 'token"'],
    wrap: (text) => JSON.stringify({ event: 'start', start: {}, extra_headers: text }),
  })
  await growsWithItsInput(t, 'the state of Telnyx', readState)
})

t.test('signatures', async (t) => {
  const tokens = { tokens: [',', '=', '+', '&', '%'] }
  const form = (text: string) => Object.fromEntries(new URLSearchParams(text))
  await growsWithItsInput(
    t,
    'Plivo',
    (text) => requirePlivo('a', { signatures: text, nonce: text }, ['http://a.example/'], form(text)),
    tokens,
  )
  await growsWithItsInput(t, 'Twilio', (text) => requireTwilio('a', text, ['http://a.example/'], form(text)), tokens)
  const key = publicKeyOf(Buffer.alloc(32).toString('base64'))
  const shown = (text: string) => ({ signature: text, timestamp: text })
  await growsWithItsInput(t, 'Telnyx', (text) => requireTelnyx(key, shown(text), text, 0), tokens)
})

t.test('tools', async (t) => {
  const tokens = ['{{', '}}', '{{a}}', '{{ a', '{{ ']
  const values = { a: 'b' }
  await growsWithItsInput(t, 'fillUrl', (text) => fillUrl(text, values), { tokens })
  await growsWithItsInput(t, 'fillHeader', (text) => fillHeader(text, values), { tokens })
  await growsWithItsInput(t, 'fillJson', (text) => fillJson({ b: text, c: ['{{a}}'] }, values), { tokens })
  await growsWithItsInput(t, 'withoutSecrets', (text) => withoutSecrets(text, { a: 'aaaaaaaa', b: 'Bearer 11111111' }))
  const rules = ['*.example.com:443', '10.0.0.0/8', '[::1]:80'].flatMap((rule) => parseNetRule(rule, {}) ?? [])
  const hosts = { tokens: ['.', '%', '%\n', '[', ':', '::', '*.', 'xn--'] }
  await growsWithItsInput(t, 'parseNetRule', (text) => parseNetRule(text, {}), hosts)
  await growsWithItsInput(t, 'allowsHost', (text) => allowsHost(rules, text, 443), hosts)
  await growsWithItsInput(t, 'netEntryOf', (text) => netEntryOf(`http://a.example/${text}`), hosts)
})

t.test('names and words', async (t) => {
  const [name, glob] = ['a'.repeat(64), '*a'.repeat(24)]
  const provides = { languagesOf: { [`${glob}!`]: ['en'] } }
  await growsWithItsInput(t, 'languagesOf', (text) => languagesOf(provides, `${name}${text}`), {
    tokens: ['a'],
    most: 4_096,
  })
  const english = LANGUAGES[0]!
  await growsWithItsInput(t, 'endingOf', (text) => endingOf(text, { asked: text, punctuates: true }, english), {
    tokens: [',', '…', '’', 'é', '7 ', 'wait '],
  })
  await growsWithItsInput(t, 'Overlap', (text) => {
    const overlap = new Overlap(text)
    for (let at = 0; at < text.length; at += 8) overlap.push(text.slice(at, at + 8))
  })
  const tokens = ['press 1 ', 'the ', 'leave a message ', 'hello ', 'your ', 'hinterlassen sie ', 'bitte ']
  await growsWithItsInput(
    t,
    'AnswerDetector',
    (text) => {
      const detector = new AnswerDetector(0)
      detector.speechStarted(0)
      for (let end = 512; end <= text.length; end += 512) detector.words(text.slice(0, end), end)
      detector.speechEnded(3_000)
      detector.tick(9_000)
    },
    { tokens },
  )
  const chat = (text: string) => {
    const { turns } = readChatText([{ role: 'user', content: text }])
    return estimateTokens(turns.map((turn) => turn.text))
  }
  await growsWithItsInput(t, 'a chat', chat, { tokens: ['中'] })
  await growsWithItsInput(t, 'signedHeaders', (text) =>
    signedHeaders([`whsec_${text}`], { id: text, timestampS: 0, body: text }),
  )
})
