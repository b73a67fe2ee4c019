import fc from 'fast-check'
import t from 'tap'
import { MessageFraming } from '../../../../../plugins/sip/message/framing.ts'
import { headerOf, type SipMessage, SipParseError } from '../../../../../plugins/sip/message/message.ts'
import { parseMessage } from '../../../../../plugins/sip/message/parser.ts'
import { serializeRequest, serializeResponse } from '../../../../../plugins/sip/message/serializer.ts'
import { tortureMessage } from '../../../../support/sip/torture-message.ts'

const WELL_FORMED = [
  ...['wsinv', 'intmeth', 'esc01', 'escnull', 'esc02', 'lwsdisp', 'longreq', 'dblreq', 'semiuri', 'transports'],
  ...['mpart01', 'unreason', 'noreason', 'badbranch', 'unkscm', 'novelsc', 'unksm2', 'bext01', 'invut', 'regaut01'],
  ...['bcast', 'zeromf', 'cparam01', 'cparam02', 'regescrt', 'sdp01', 'inv2543'],
  // Malformed where it harms nobody: nothing reads dates.
  'baddate',
]
const MALFORMED = [
  ...['badinv01', 'clerr', 'ncl', 'scalar02', 'scalarlg', 'quotbal', 'ltgtruri', 'lwsruri', 'lwsstart', 'trws'],
  ...['escruri', 'regbadct', 'badaspec', 'baddn', 'badvers', 'mismatch01', 'mismatch02', 'bigcode'],
  // Section 3.3 has well-formed headers that contradict each other or lack what every message has.
  ...['insuf', 'multi01', 'mcl01'],
]

for (const name of WELL_FORMED) {
  t.test(`RFC 4475's well-formed ${name} is accepted, also after it was written again`, async (t) => {
    const message = parseMessage(tortureMessage(name))
    const again = parseMessage(write(message))
    t.same(withoutLength(again), withoutLength(message))
  })
}

for (const name of MALFORMED) {
  t.test(`RFC 4475's malformed ${name} is refused`, async (t) => {
    t.throws(() => parseMessage(tortureMessage(name)), {
      name: 'SipParseError',
      status: name === 'badvers' ? 505 : 400,
    })
  })
}

t.test('the parts of a tortuous INVITE are understood', async (t) => {
  const message = parseMessage(tortureMessage('wsinv'))
  t.match(message, {
    kind: 'request',
    method: 'INVITE',
    callId: 'wsinv.ndaksdj@192.0.2.1',
    cseq: { number: 9, method: 'INVITE' },
    from: { displayName: 'J Rosenberg \\"' },
  })
  t.equal(message.from.params.get('tag'), '98asjd8')
  t.equal(message.to.params.get('tag'), '1918181833n')
  t.equal(headerOf(message, 'max-forwards'), '0068')
  t.same(
    message.vias.map(({ transport, host }) => [transport, host]),
    [
      ['UDP', '192.0.2.2'],
      ['TCP', 'spindle.example.com'],
      ['UDP', '192.168.255.111'],
    ],
  )
  t.equal(message.vias[2]?.params.get('branch'), 'z9hG4bK30239')
  t.equal(message.contacts[0]?.params.get('q'), '0.33')
  t.equal(message.contacts[0]?.params.get('newparam'), 'newvalue')
  t.equal(message.body.length, 150)
})

t.test('what other stacks send and nothing hangs on costs no call', async (t) => {
  const invite = String(tortureMessage('unreason'))
  const withHeader = (name: string, value: string): string => {
    const line = new RegExp(`^${name}:.*$`, 'im')
    return line.test(invite) ? invite.replace(line, `${name}: ${value}`) : invite
  }
  const names = ['Doe, John', 'Doe (Front)', 'john@desk', 'Jos\xe9', 'a # b']
  for (const name of names) {
    const message = parseMessage(Buffer.from(withHeader('From', `${name} <sip:204@pbx.example>;tag=1`), 'latin1'))
    t.equal(message.from.displayName, name)
    t.equal(message.from.uri.user, '204')
  }
  for (const [uri, user] of [
    ['sip:204#1@pbx.example', '204#1'],
    ['sip:ann@home.example@pbx.example;user=phone', 'ann@home.example'],
  ] as const) {
    const { from } = parseMessage(Buffer.from(withHeader('From', `<${uri}>;tag=1`), 'latin1'))
    t.equal(from.uri.user, user)
    t.equal(from.uri.host, 'pbx.example')
  }
  t.equal(parseMessage(Buffer.from(withHeader('Call-ID', 'a=b;c,d@x'), 'latin1')).callId, 'a=b;c,d@x')
  t.match(
    parseMessage(
      Buffer.from(
        invite.replace(/^.*?\r\n\r\n/s, (head) => head.replaceAll('\r', '')),
        'latin1',
      ),
    ),
    { cseq: { method: 'INVITE' } },
  )
})

t.test('escaped users are undone', async (t) => {
  const message = parseMessage(tortureMessage('esc01'))
  t.equal(message.kind === 'request' && message.uri.user, 'sips:user@example.com')
  t.equal(message.to.uri.user, 'user')
  t.equal(message.from.uri.user, 'I have spaces')
})

t.test('a body ends with its Content-Length: what follows in the datagram is not part of it', async (t) => {
  const message = parseMessage(tortureMessage('dblreq'))
  t.equal(message.body.length, 0)
})

t.test('a stream is cut into messages wherever its bytes break off', async (t) => {
  const one = tortureMessage('inv2543')
  const first = Buffer.from(
    String(one).replace('\r\n\r\n', `\r\nContent-Length: ${one.length - one.indexOf('\r\n\r\n') - 4}\r\n\r\n`),
  )
  const second = tortureMessage('unreason')
  const stream = Buffer.concat([first, Buffer.from('\r\n\r\n'), second])
  for (const size of [1, 7, 100, stream.length]) {
    let pings = 0
    const framing = new MessageFraming(() => pings++)
    const messages: SipMessage[] = []
    for (let at = 0; at < stream.length; at += size) messages.push(...framing.push(stream.subarray(at, at + size)))
    t.same(
      messages.map(({ callId }) => callId),
      ['inv2543.1717@ift.client.example.com', 'unreason.1234ksdfak3j2erwedfsASdf'],
    )
    t.equal(pings, 1)
  }
})

t.test('bytes that come one by one are not copied again with each', (t) => {
  const body = 'x'.repeat(60_000)
  const head = tortureMessage('inv2543')
    .toString('latin1')
    .replace(/\r\n\r\n[\s\S]*$/, '')
  const stream = Buffer.from(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 'latin1')
  const { concat } = Buffer
  const from = Buffer.allocUnsafeSlow
  let allocated = 0
  Buffer.allocUnsafeSlow = (bytes) => {
    allocated += bytes
    return from(bytes)
  }
  t.teardown(() => {
    Buffer.concat = concat
    Buffer.allocUnsafeSlow = from
  })
  Buffer.concat = () => t.fail('all that is held is copied') as never
  const framing = new MessageFraming(() => undefined)
  const messages: SipMessage[] = []
  for (let at = 0; at < stream.length; at++) messages.push(...framing.push(stream.subarray(at, at + 1)))
  t.equal(messages.length, 1)
  t.ok(allocated < 6 * stream.length, `${allocated} bytes for ${stream.length}`)
  t.end()
})

t.test('a stream message without Content-Length is refused', async (t) => {
  t.throws(() => new MessageFraming(() => undefined).push(tortureMessage('inv2543')), SipParseError)
})

t.test('a stream whose headers never end is refused before it fills the memory', async (t) => {
  const framing = new MessageFraming(() => undefined)
  t.throws(() => {
    for (let i = 0; i < 100; i++) framing.push(Buffer.alloc(1000, 'a'))
  }, SipParseError)
})

t.test('a value can not smuggle a header in', async (t) => {
  const bytes = serializeRequest({
    method: 'BYE',
    uri: 'sip:a@b.example',
    headers: [{ name: 'reason', value: 'x\r\nEvil: yes' }],
  })
  t.match(String(bytes), /^Reason: x Evil: yes\r$/m)
})

const seeds = [...WELL_FORMED, ...MALFORMED].map(tortureMessage)
/** What breaks parsers more often than random bytes do. */
const SPLINTERS = ['"', '\\', '<', '>', ';', ',', ':', '\r\n', '\r\n ', ' ', '%', '=', '@', '\0', '\xff', 'Via: ', '()']

t.test('100,000 mutated messages end in a message or in SipParseError', async (t) => {
  const mutation = fc.tuple(
    fc.nat(seeds.length - 1),
    fc.array(fc.tuple(fc.nat(5000), fc.nat(3), fc.nat(SPLINTERS.length - 1), fc.nat(200)), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  let accepted = 0
  let refused = 0
  fc.assert(
    fc.property(mutation, ([seed, edits]) => {
      let bytes = seeds[seed]!
      for (const edit of edits) bytes = mutate(bytes, edit)
      try {
        parseMessage(bytes)
        accepted++
      } catch (error) {
        if (!(error instanceof SipParseError)) throw error
        refused++
      }
      const framing = new MessageFraming(() => undefined)
      try {
        framing.push(bytes)
      } catch (error) {
        if (!(error instanceof SipParseError)) throw error
      }
    }),
    { numRuns: 100_000, seed: 4475 },
  )
  t.ok(accepted > 2_000, `${accepted} accepted`)
  t.ok(refused > 5_000, `${refused} refused`)
})

t.test('a message made to slow the parser down takes no time', async (t) => {
  const heads = ['"'.repeat(30_000), '<'.repeat(30_000), `${'a '.repeat(15_000)}(`, `sip:${'a.'.repeat(15_000)}!`]
  const before = process.cpuUsage()
  for (const name of ['From', 'Via', 'Contact', 'Call-ID', 'CSeq', 'Date']) {
    for (const value of heads) {
      const bytes = Buffer.from(
        String(tortureMessage('lwsdisp')).replace('OPTIONS\r\n', `OPTIONS\r\n${name}: ${value}\r\n`),
      )
      try {
        parseMessage(bytes)
      } catch (error) {
        t.type(error, SipParseError)
      }
    }
  }
  t.ok(process.cpuUsage(before).user < 5_000_000)
})

function mutate(bytes: Buffer, [at, kind, splinter, length]: [number, number, number, number]): Buffer {
  const place = at % (bytes.length + 1)
  const before = bytes.subarray(0, place)
  const inserted = Buffer.from(SPLINTERS[splinter]!, 'latin1')
  if (kind === 0) return Buffer.concat([before, inserted, bytes.subarray(place)])
  if (kind === 1) return Buffer.concat([before, inserted, bytes.subarray(place + 1)])
  if (kind === 2) return Buffer.concat([before, bytes.subarray(place + length)])
  return Buffer.concat([before, bytes.subarray(place, place + length), bytes.subarray(place)])
}

function write(message: SipMessage): Buffer {
  if (message.kind === 'response') return serializeResponse(message)
  return serializeRequest({ ...message, uri: message.uri.text })
}

/** The serializer writes a Content-Length where none was. */
function withoutLength(message: SipMessage) {
  return { ...message, headers: message.headers.filter(({ name }) => name !== 'content-length') }
}
