import { readFileSync } from 'node:fs'
import pino from 'pino'
import t, { type Test, test } from 'tap'
import { askInboundWebhook } from '../../../../api/calls/inbound-webhook.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { parseInfrastructureRule } from '../../../../runtime/plugin/grants/net-rule.ts'
import { callHttp } from '../../../../runtime/tools/call-http.ts'
import { KeptConnections } from '../../../../runtime/tools/connections.ts'
import { sendRequest } from '../../../../runtime/tools/http-request.ts'
import { McpClients } from '../../../../runtime/tools/mcp/clients.ts'
import { webhookSecrets } from '../../../../runtime/webhooks/signature.ts'
import { sendDelivery } from '../../../../workers/webhooks/sender.ts'
import { FRAMINGS, type Framing, jsonOf, startOddAnswers } from '../../../support/providers/odd-answers.ts'

const allowed = [parseInfrastructureRule('127.0.0.1')]
const signal = new AbortController().signal
const connections = new KeptConnections({ allowed, idleMs: 60_000 })
const mcp = new McpClients({ allowed, clock: systemClock })
t.teardown(() => {
  connections.close()
  mcp.close()
})
const server = await startOddAnswers(t)

const MAX_BLOCKED_MS = 50
const TRIES = 3
const SIZES = [0, 1, 100, 16_384, 65_535, 65_536, 66_000, 100_000, 500_000, 2_000_000, 20_000_000]
const KIB_64 = 64 * 1024
const MCP_BYTES = 512 * 1024
const dataKey = 'a data key of this test'
const log = pino({ enabled: false })
const [secret, numberSecret] = ['w', '+14155550100'].map((label) =>
  webhookSecrets(dataKey).seal('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', label),
) as [string, string]

/** `text` of the answer, or what became of it in words. */
type Outcome = { text: string } | { fault: string }
interface User {
  name: string
  ask(url: string, timeoutMs: number): Promise<Outcome>
  /** Reads so much, and either leaves the rest or refuses the whole. */
  bytes: number
  beyond: 'cut' | 'refused'
  readsJson?: boolean
}

const caught = (asked: Promise<Outcome>): Promise<Outcome> =>
  asked.catch((error: NodeJS.ErrnoException) => ({ fault: error.code ?? error.message }))

const mcpServer = (url: string, timeoutMs: number) => ({ workspaceId: 'w', url, headers: {}, timeoutMs })

const USERS: readonly User[] = [
  {
    name: 'an HTTP tool',
    async ask(url, timeoutMs) {
      const http = { method: 'GET', url, headers: {}, timeoutMs } as const
      const { output, fault } = await callHttp(http, { input: {}, parameters: {}, variables: {} }, { allowed, signal })
      return fault === undefined ? { text: output.replace(/^Done$|…$/, '') } : { fault: `${output} ${fault}` }
    },
    bytes: KIB_64,
    beyond: 'cut',
  },
  {
    name: 'tools/list',
    ask: (url, timeoutMs) =>
      caught(mcp.list(mcpServer(url, timeoutMs), 128, signal).then(([tool]) => ({ text: tool?.description ?? '' }))),
    bytes: MCP_BYTES,
    beyond: 'refused',
  },
  {
    name: 'tools/call',
    ask: (url, timeoutMs) => {
      const call = { name: 'odd', input: {}, key: undefined, traceparent: undefined }
      return caught(mcp.call(mcpServer(url, timeoutMs), call, signal))
    },
    bytes: MCP_BYTES,
    beyond: 'refused',
  },
  {
    name: 'a webhook',
    async ask(url, timeoutMs) {
      const delivery = { ...{ workspaceId: 'w', webhookId: 'w', id: 'd', eventId: 'e', eventAt: new Date(0), url } }
      const options = { connections, secrets: webhookSecrets(dataKey), clock: systemClock, random: Math.random }
      const { attempt } = await sendDelivery(
        { ...delivery, secret, oldSecret: null, attempts: 0, failingSince: null },
        { body: '{}', callId: null },
        { ...options, log, timeoutMs },
        signal,
      )
      return attempt.error === null ? { text: attempt.responseBody ?? '' } : { fault: attempt.error }
    },
    bytes: KIB_64,
    beyond: 'cut',
  },
  {
    name: 'an inbound webhook',
    async ask(url) {
      const question = {
        ...{ url, secret: numberSecret, callId: '0190163d-8694-739b-aea5-966c26f8ad91', workspaceId: 'w', from: null },
        ...{ to: '+14155550100', provider: 'sim', agentId: null },
      }
      const answer = await askInboundWebhook(question, { allowed, keys: { dataKey }, clock: systemClock, log, signal })
      return 'fault' in answer ? answer : { text: '' }
    },
    bytes: KIB_64,
    beyond: 'cut',
    readsJson: true,
  },
]

const GOOD: ReadonlySet<Framing> = new Set([
  ...([
    'length',
    'chunks-of-1',
    'chunks-of-4093',
    'one-chunk',
    'until-close',
    'slow',
    'gzip',
    'deflate',
    'br',
  ] as const),
  ...(['early', 'trailers'] as const),
])
/** What is said of answers that are none. */
const FAULTS: Partial<Record<Framing, RegExp>> = {
  cut: /broke off/,
  'cut-chunks': /broke off/,
  'cut-gzip': /not the gzip/,
  'false-gzip': /not the gzip/,
  'unknown-coding': /content encoding "x-rot13" is not supported/,
  bomb: /longer than|no JSON/,
  never: /longer than|no JSON/,
  drip: /no answer within|No answer within/,
  // Nobody asked whether to go on.
  continue: /ECONNRESET/,
  reset: /ECONNRESET/,
  'no-http': /Expected HTTP|could not be reached|ECONNRESET|HPE_/,
  'long-head': /Headers Overflow|HPE_HEADER_OVERFLOW|could not be reached|UND_ERR/,
}

for (const user of USERS) {
  test(`${user.name} gets each answer or a clear error, and holds up nobody`, { timeout: 600_000 }, async (t) => {
    for (const how of FRAMINGS) {
      const isOnce = ['bomb', 'never', 'drip', 'reset', '204', '304'].includes(how)
      for (const bytes of isOnce ? [100] : SIZES) {
        // Six bytes on the line for each of the body.
        if (how === 'chunks-of-1' && bytes > 500_000) continue
        await asked(t, user, how, bytes)
      }
    }
  })
}

async function asked(t: Test, user: User, how: Framing, bytes: number): Promise<void> {
  const name = `${user.name}: ${bytes} bytes, ${how}`
  let blockedMs = 0
  let isJudged = false
  for (let i = 0; i < TRIES; i++) {
    const blocked = watchTurns()
    const outcome = await user.ask(server.urlOf(how, bytes), how === 'drip' ? 500 : 20_000)
    blockedMs = blocked()
    // Some give an answer two seconds, whatever else the machine does: it is asked for again.
    const isLate = GOOD.has(how) && 'fault' in outcome && outcome.fault.startsWith('no answer within')
    if (!isJudged && (!isLate || i === TRIES - 1)) {
      judge(t, user, { how, bytes, name }, outcome)
      isJudged = true
    }
    if (isJudged && blockedMs < MAX_BLOCKED_MS) break
  }
  if (blockedMs >= MAX_BLOCKED_MS) t.fail(`${name}: the loop stood for ${blockedMs} ms`)
}

/** Gives, once, the most processor time of a turn of the loop: what a busy machine gives to others meanwhile is not in it. */
function watchTurns(): () => number {
  const ranMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  let [before, mostMs] = [ranMs(), 0]
  const look = () => {
    const now = ranMs()
    mostMs = Math.max(mostMs, now - before)
    before = now
  }
  const timer = setInterval(look, 1)
  return () => {
    clearInterval(timer)
    look()
    return mostMs
  }
}

function judge(
  t: Test,
  { bytes: most, beyond, readsJson, name: user }: User,
  { how, bytes, name }: { how: Framing; bytes: number; name: string },
  outcome: Outcome,
): void {
  const shown = JSON.stringify(outcome).slice(0, 300)
  const isLong = bytes > most - 200
  if (GOOD.has(how) && !(isLong && beyond === 'refused')) {
    // JSON that is cut is none; where it is cut it is followed by blanks here.
    const isJson = !readsJson || bytes >= 13
    if (!isJson) return void t.match(outcome, { fault: /no JSON/ }, name)
    const whole = user.startsWith('tools/') ? 'x'.repeat(bytes) : jsonOf(bytes)
    const isWhole = 'text' in outcome && whole.startsWith(outcome.text)
    if (!isWhole || (!readsJson && outcome.text.length < Math.min(1, bytes))) t.fail(`${name}: ${shown}`)
    return
  }
  if (GOOD.has(how)) return void t.match(outcome, { fault: /longer than 524288/ }, name)
  if (how === '204' || how === '304' || how === 'short-length') return
  // What is read of it may have come before it broke off.
  const isRead = 'text' in outcome && beyond === 'cut' && (isLong || how === 'never' || how === 'bomb')
  if (isRead) return
  const fault = 'fault' in outcome ? outcome.fault : `nothing: ${shown}`
  const isTooLong = beyond === 'refused' && isLong && /longer than/.test(fault)
  if (!isTooLong && FAULTS[how]?.test(fault) !== true) t.fail(`${name}: ${shown}`)
}

test('a connection serves the next request after each kind of answer', async (t) => {
  for (const how of ['length', 'chunks-of-4093', 'gzip', 'br', 'early', 'trailers', '204', '304', 'length'] as const) {
    const outgoing = { method: 'GET', url: server.urlOf(how, 1_000), headers: {} }
    const { text } = await sendRequest(outgoing, { over: connections, signal })
    t.equal(text, how === '204' || how === '304' ? '' : jsonOf(1_000), how)
  }
})

test('an answer to HEAD has no body, whatever its length says', async (t) => {
  const outgoing = { method: 'HEAD', url: server.urlOf('length', 500_000), headers: {} }
  t.strictSame(await sendRequest(outgoing, { over: connections, signal }), {
    status: 200,
    contentType: 'application/json',
    text: '',
  })
})
