/**
 * The API of the carrier, and a person at the other end of each call: picks up, listens, says something (a tone of two seconds), listens
 * to the answer and hangs up. Numbers that end in 0 are busy.
 *
 *     TINCAN_KEY=secret node stand-in.ts 4020
 *
 * `POST /people/call` with `{ "to": "+14155550100", "url": "<PUBLIC_URL>/telephony/<plugin>/voice" }` has the person call a number.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

const KEY = process.env.TINCAN_KEY ?? 'secret'
const RATE_HZ = 16_000
const FRAME = RATE_HZ / 50
const SPEECH_MS = 2_000
/** So long after the agent's last sound it is the person's turn; so long after the agent's answer the person hangs up. */
const TURN_MS = 2_000
const PATIENCE_MS = 5_000
const SILENCE = new Int16Array(FRAME)
const TONE = Int16Array.from({ length: FRAME }, (_, n) => 8_000 * Math.sin((2 * Math.PI * 400 * n) / RATE_HZ))
const AUDIBLE = 300

interface Call {
  id: string
  isLive: boolean
  statusUrl?: string
  hangUp(): void
}

interface Answer {
  status: number
  body?: object
}

const calls = new Map<string, Call>()

/** Asks Patchbay something, signed. */
async function tell(url: string, message: object): Promise<Response> {
  const body = JSON.stringify(message)
  const signature = createHmac('sha256', KEY).update(`${url}\n${body}`).digest('hex')
  return fetch(url, { method: 'POST', body, headers: { 'tincan-signature': signature } })
}

function newCall(statusUrl?: string): Call {
  const call: Call = { id: randomUUID(), isLive: true, hangUp: () => end(call), ...(statusUrl && { statusUrl }) }
  calls.set(call.id, call)
  return call
}

function end(call: Call, state = 'ended'): void {
  if (!call.isLive) return
  call.isLive = false
  if (call.statusUrl !== undefined) tell(call.statusUrl, { id: call.id, state }).catch(console.error)
}

/** The person's side of a call, until somebody hangs up. */
function talk(call: Call, url: string, token: string): void {
  const socket = new WebSocket(url)
  const say = (message: object): void => socket.send(JSON.stringify(message))
  let playedUntilMs = 0
  let lastSoundMs = Number.POSITIVE_INFINITY
  let speaksUntilMs = 0
  let hasSpoken = false
  let heardMs = 0
  const marks: string[] = []
  const played = (): void => {
    for (const name of marks.splice(0)) say({ event: 'mark', name })
  }
  let frames: NodeJS.Timeout | undefined
  socket.addEventListener('open', () => {
    say({ event: 'start', call: call.id, token })
    frames = setInterval(() => {
      const nowMs = performance.now()
      if (nowMs >= playedUntilMs && marks.length > 0) played()
      const silentMs = nowMs - Math.max(lastSoundMs, playedUntilMs, speaksUntilMs)
      if (hasSpoken && silentMs > PATIENCE_MS) return call.hangUp()
      if (!hasSpoken && silentMs > TURN_MS) {
        hasSpoken = true
        speaksUntilMs = nowMs + SPEECH_MS
        lastSoundMs = Number.POSITIVE_INFINITY
      }
      const samples = nowMs < speaksUntilMs ? TONE : SILENCE
      say({ event: 'sound', pcm: Buffer.from(samples.buffer).toString('base64') })
    }, 20)
  })
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data))
    if (message.event === 'mark') marks.push(message.name)
    if (message.event === 'clear') {
      playedUntilMs = 0
      played()
    }
    if (message.event !== 'sound') return
    const bytes = Buffer.from(message.pcm, 'base64')
    const ms = bytes.length / 2 / (RATE_HZ / 1000)
    playedUntilMs = Math.max(playedUntilMs, performance.now()) + ms
    let isAudible = false
    for (let at = 0; at + 1 < bytes.length; at += 2) isAudible ||= Math.abs(bytes.readInt16LE(at)) > AUDIBLE
    if (!isAudible) return
    heardMs += ms
    lastSoundMs = playedUntilMs
  })
  socket.addEventListener('close', () => {
    clearInterval(frames)
    end(call)
    console.log(`Call ${call.id} is over: the person heard ${(heardMs / 1000).toFixed(1)} s of sound`)
  })
  call.hangUp = () => {
    if (socket.readyState === WebSocket.OPEN) say({ event: 'stop' })
    socket.close()
  }
}

/** Somebody is called. */
async function ring(call: Call, to: string, streamUrl: string, token: string): Promise<void> {
  if (call.statusUrl !== undefined) await tell(call.statusUrl, { id: call.id, state: 'ringing' })
  if (to.endsWith('0')) return end(call, 'busy')
  console.log(`${to} picks up`)
  talk(call, streamUrl, token)
}

/** Somebody calls. */
async function callIn(call: Call, url: string, to: string): Promise<object> {
  const reply = await tell(url, { id: call.id, from: '+14155550123', to })
  const instruction = (await reply.json()) as { action: string; url: string; token: string }
  if (instruction.action === 'stream') talk(call, instruction.url, instruction.token)
  return { id: call.id, ...instruction }
}

async function answer(method: string, path: string, body: Record<string, string>): Promise<Answer> {
  const call = calls.get(path.split('/')[2] ?? '')
  if (path === '/people/call') return { status: 200, body: await callIn(newCall(), body.url ?? '', body.to ?? '') }
  if (path === '/calls' && method === 'POST') {
    if (!/^\+\d{8,15}$/.test(body.to ?? '')) return { status: 422, body: { error: 'no such number' } }
    const placed = newCall(body.statusUrl)
    setTimeout(() => ring(placed, body.to ?? '', body.streamUrl ?? '', body.token ?? '').catch(console.error), 200)
    return { status: 201, body: { id: placed.id } }
  }
  if (path === '/calls') return { status: 200, body: [...calls.keys()] }
  if (call === undefined) return { status: 404 }
  if (method === 'DELETE') call.hangUp()
  return { status: 200, body: { isLive: call.isLive } }
}

const server = createServer(async (request, response) => {
  try {
    const isTrusted = request.headers.authorization === `Bearer ${KEY}` || request.url === '/people/call'
    const body = JSON.parse((await text(request)) || '{}')
    const said = isTrusted ? await answer(request.method ?? '', request.url ?? '', body) : { status: 401 }
    response.writeHead(said.status, { 'content-type': 'application/json' }).end(JSON.stringify(said.body))
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
})
server.listen(Number(process.argv[2] ?? 4020), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`The carrier answers at http://127.0.0.1:${port}`)
})
