import t from 'tap'
import { readCookie } from '../../../api/auth/cookies.ts'
import { rangeOf } from '../../../api/calls/recording.ts'
import { callRoutes } from '../../../api/calls/routes.ts'
import { readMultipart } from '../../../api/http/multipart.ts'
import { createRouter } from '../../../api/http/router.ts'
import { compileInput, readInput } from '../../../api/input.ts'
import { readClientMessage } from '../../../api/realtime/messages.ts'
import { realtimeUrl } from '../../../api/realtime/realtime-url.ts'
import { readAnswer } from '../../../api/realtime/webrtc/sdp.ts'
import { bareHost } from '../../../api/trunks/hops.ts'
import { refuseBadTrunk } from '../../../api/trunks/schema.ts'
import { Keypad } from '../../../runtime/conversation/hearing/keypad.ts'
import { readProspectNumber } from '../../../runtime/dialing/prospect-number.ts'
import { isInternalAddress, isPublicAddress } from '../../../runtime/lib/address.ts'
import { networkOf, parseRange } from '../../../runtime/lib/address-range.ts'
import { clientAddress, isOwnHost, plainAddress } from '../../../runtime/lib/client-address.ts'
import { createCsvReader } from '../../../runtime/lib/csv.ts'
import { parseInstant } from '../../../runtime/lib/instant.ts'
import { beyondBounds, JSON_BOUNDS } from '../../../runtime/lib/json-bounds.ts'
import { parsePhoneNumber } from '../../../runtime/lib/phone-number.ts'
import { printable } from '../../../runtime/lib/printable.ts'
import { cleanJson, cleanText, TextCleaner, unstorableText } from '../../../runtime/lib/text.ts'
import { withoutUserinfo } from '../../../runtime/lib/url-userinfo.ts'
import { numbersMeantBy, readDestination, readNumber } from '../../../runtime/plugin-sdk/telephony/destination.ts'
import { createLogger } from '../../../runtime/process/log.ts'
import { parseTraceparent } from '../../../runtime/traces/trace-context.ts'
import { slugOf } from '../../../store/database/free-slug.ts'
import { ownColumnOf } from '../../../store/prospects/prospect-columns.ts'
import { slugify } from '../../../store/workspaces/workspaces.ts'
import { growsWithItsInput } from '../../support/source/growth.ts'

/** What clients send is read on the loop that carries the audio of all calls. */

const inPieces = function* (text: string, size: number): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

t.test('JSON and text', async (t) => {
  const json = { tokens: ['"', '\\', '\\"', '{"a":', '[', '[1,', '}', ':'] }
  await growsWithItsInput(t, 'beyondBounds', (text) => beyondBounds(text, JSON_BOUNDS), json)
  await growsWithItsInput(
    t,
    'beyondBounds of any shape',
    (text) => beyondBounds(text, { depth: 1e9, parts: 1e9 }),
    json,
  )
  await growsWithItsInput(t, 'readClientMessage', readClientMessage, json)
  await growsWithItsInput(t, 'readClientMessage, its text', readClientMessage, {
    ...json,
    wrap: (text) => JSON.stringify({ type: 'text', text }),
  })
  const units = { tokens: ['\0', '\ud83d', '\udc00', '😀', '\u202e'] }
  await growsWithItsInput(t, 'cleanText', (text) => cleanText(text, text.length - 1), units)
  await growsWithItsInput(t, 'cleanJson', (text) => cleanJson({ [text]: [text] }), units)
  await growsWithItsInput(t, 'unstorableText', (text) => unstorableText([text, { [text]: text }]), units)
  const cleaned = (text: string) => {
    const cleaner = new TextCleaner()
    for (const piece of inPieces(text, 1)) cleaner.push(piece)
  }
  await growsWithItsInput(t, 'TextCleaner', cleaned, units)
  await growsWithItsInput(t, 'printable', printable, units)
  const urls = { tokens: ['a://', '://', '@', 'a:', '+'] }
  await growsWithItsInput(t, 'withoutUserinfo', withoutUserinfo, urls)
  const log = createLogger({ level: 'info', name: 'growth', destination: { write: () => undefined } })
  await growsWithItsInput(t, 'the log', (text) => log.info({ text, [text]: 1, err: new Error(text) }, text), {
    tokens: [...urls.tokens, '+1415', '+', 'password', 'token'],
  })
})

t.test('queries and headers', async (t) => {
  const route = callRoutes.find(({ path }) => path === '/calls/logs')
  t.ok(route)
  const compiled = compileInput(route!)
  for (const name of ['page', 'call_type', 'unknown']) {
    await growsWithItsInput(t, `a query for ${name}`, (text) => readInput(compiled, `${name}=${text}`, undefined), {
      tokens: ['%00', '&', '=', '&a=', '%', '+', '11', '1.'],
    })
  }
  await growsWithItsInput(t, 'readCookie', (text) => readCookie(text, 'access_token'), {
    tokens: [';', 'access_token', 'access_token=', ' ;'],
  })
  await growsWithItsInput(t, 'rangeOf', (text) => rangeOf(`bytes=${text}`, 1e6), { tokens: ['1-', '-', ','] })
  await growsWithItsInput(t, 'clientAddress', (text) => clientAddress('127.0.0.1', text, () => true), {
    tokens: [',', '127.0.0.1,', '%', '%\n', '::', '::1,'],
  })
  await growsWithItsInput(t, 'isOwnHost', isOwnHost, { tokens: [':', ':1', '[', '.localhost'] })
  await growsWithItsInput(t, 'parseTraceparent', parseTraceparent, { tokens: ['-', '0', '00-'] })
  const routed = createRouter(callRoutes.map((one) => ({ route: one, compiled: undefined })))
  await growsWithItsInput(t, 'a path', (text) => routed.match('GET', `/calls/${text}`), { tokens: ['/', '%2f', '{'] })
  const config = { publicUrl: 'http://a.example', publicUrlGiven: false }
  await growsWithItsInput(t, 'realtimeUrl', (text) => realtimeUrl(config, () => text, 'x'), { tokens: ['.', ':1'] })
  await growsWithItsInput(t, 'readAnswer', (text) => readAnswer(`v=0\r\n${text}`), {
    tokens: ['m=audio 1 a ', '111 ', '1 ', '\r\n', 'a=', 'a=fingerprint:sha-256 ', 'a=ice-ufrag:', 'a=setup:'],
  })
})

t.test('uploads', async (t) => {
  const type = 'multipart/form-data; boundary=x'
  const received = async (contentType: string, text: string, size: number) => {
    const body = (async function* () {
      for (const piece of inPieces(text, size)) yield Buffer.from(piece, 'latin1')
    })()
    const source = { contentType, body: body as never, signal: new AbortController().signal }
    await readMultipart(source, { maxFileBytes: 1e9 }, async ({ content }) => {
      for await (const _ of content);
    })
  }
  const tokens = ['\r\n--', '\r\n--x', '-', 'Content-Disposition: form-data; name="', ';', '%', '*=', '\\']
  const part = '--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n'
  await growsWithItsInput(t, 'a file', (text) => received(type, `${part}${text}\r\n--x--\r\n`, 1_024), { tokens })
  await growsWithItsInput(t, 'the headers of a part', (text) => received(type, `--x\r\n${text}`, 1_024), { tokens })
  const named = (text: string) => received(type, `--x\r\nContent-Disposition: form-data; name="${text}`, 4_096)
  await growsWithItsInput(t, 'the name of a part', (text) => named(`${text}"\r\n\r\n1\r\n--x--\r\n`), { tokens })
  await growsWithItsInput(t, 'a boundary', (text) => received(`multipart/form-data; ${text}; boundary=x`, '--x', 9), {
    tokens,
  })
  const csv = { tokens: ['"', '""', ',', ';', '\n', '\r', '"\n', '"a",', ' "'] }
  for (const size of [64, 16_384]) {
    const read = (text: string) => {
      const reader = createCsvReader()
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
      reader.end()
    }
    await growsWithItsInput(t, `a CSV file in pieces of ${size} bytes`, read, csv)
    await growsWithItsInput(t, `its records in pieces of ${size} bytes`, read, {
      ...csv,
      wrap: (text) => `a,b\n${text}`,
    })
  }
  await growsWithItsInput(t, 'ownColumnOf', ownColumnOf, { tokens: ['_', '-'] })
})

t.test('numbers, names and addresses', async (t) => {
  const digits = { tokens: ['+', '00', '+1', ' ', '(', '-', ';', 'x', '٣', '011', "'"] }
  await growsWithItsInput(t, 'parsePhoneNumber', parsePhoneNumber, digits)
  await growsWithItsInput(t, 'readProspectNumber', (text) => readProspectNumber(text, 'US'), digits)
  await growsWithItsInput(t, 'readNumber', (text) => readNumber(text, ['US', 'DE']), digits)
  await growsWithItsInput(t, 'numbersMeantBy', (text) => numbersMeantBy(text, ['US', 'DE']), digits)
  await growsWithItsInput(t, 'readDestination', readDestination, { tokens: ['sip:', '%23', '@', '.', '-', '['] })
  await growsWithItsInput(t, 'Keypad', (text) => {
    const keypad = new Keypad()
    for (const [at, digit] of [...text].entries()) keypad.press(digit, at, at)
  })
  const addresses = { tokens: ['%', '%\n', ':', '::', '1.', '/', '/1', '[', 'f:'] }
  await growsWithItsInput(t, 'parseRange', parseRange, addresses)
  await growsWithItsInput(t, 'networkOf', networkOf, addresses)
  await growsWithItsInput(t, 'plainAddress', plainAddress, addresses)
  await growsWithItsInput(t, 'isPublicAddress', isPublicAddress, addresses)
  await growsWithItsInput(t, 'isInternalAddress', isInternalAddress, addresses)
  await growsWithItsInput(t, 'bareHost', bareHost, addresses)
  const trunk = {
    ...{ name: 'a', host: 'a.example', transport: 'tls', register: false, countries: [], allowed_addresses: [] },
    ...{ tls_ca: null, username: null, password: null, hasPassword: false, tlsKey: null, hasTlsKey: false },
  }
  const settings = {
    ...{ outbound_proxy: null, from_domain: null, contact_domain: null, headers: {}, take_headers: [] },
    ...{ fallback_trunk: null, media_addresses: [], tls_cert: null },
  }
  const hosted = (text: string) => {
    const named = { outbound_proxy: text, from_domain: text, contact_domain: `a${text}`, media_addresses: [text] }
    refuseBadTrunk({ ...trunk, host: text, allowed_addresses: [text], settings: { ...settings, ...named } })
  }
  await growsWithItsInput(t, 'the addresses of a trunk', hosted, addresses)
  const certified = (text: string) => refuseBadTrunk({ ...trunk, tls_ca: text, settings })
  await growsWithItsInput(t, 'the certificates of a trunk', certified, {
    tokens: ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----', '-'],
  })
  const names = { tokens: ['-', '_', 'ß', '\u0301', "'"] }
  await growsWithItsInput(t, 'slugOf', (text) => slugOf(text, 'x'), names)
  await growsWithItsInput(t, 'slugify', slugify, names)
  await growsWithItsInput(t, 'parseInstant', parseInstant, { tokens: ['T', '-', ':', 'Z', '+'] })
})
