import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import WebSocket from 'ws'
import { Tenant } from '../../bench/hostile/tenant.ts'
import { freePort } from '../../scripts/demo/free-port.ts'
import { type Instance, startInstance } from '../support/instance/instance.ts'
import { telnyxKeys } from '../support/providers/doubles/carriers/stream-carrier.ts'

/** An installation with a tenant who attacks, one who is not to notice, and a server that the first one owns. */
export interface World {
  readonly instance: Instance
  readonly hostile: Tenant
  readonly quiet: Tenant
  readonly quietAgentId: string
  /** Number of the hostile tenant that calls over its trunk, which takes this machine's addresses, are answered at. */
  readonly sipNumber: string
  readonly sipPort: number
  readonly rtpPorts: readonly [first: number, last: number]
  readonly linkToken: string
  readonly telnyxHeaders: (body: string) => Record<string, string>
  /** A server of the hostile tenant; a surface decides what it answers. */
  readonly server: HostileServer
  close(): Promise<void>
}

export interface HostileServer {
  readonly url: string
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => void
}

const LINK_TOKEN = 'link-token-of-the-fuzzer'
const HOSTILE_NUMBER = '+14155551003'
const RTP_PORTS = 100

export async function openWorld(): Promise<World> {
  const teardowns: (() => unknown)[] = []
  const teardown = { teardown: (run: () => unknown) => void teardowns.unshift(run) }
  const close = async () => {
    for (const run of teardowns) await run()
  }
  let running: Instance | undefined
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'patchbay-fuzz-'))
    teardowns.unshift(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }))
    const { server, http } = await openServer()
    teardowns.unshift(() => {
      http.closeAllConnections()
      http.close()
    })
    const keys = telnyxKeys()
    const tokenSecret = randomBytes(32).toString('hex')
    const sipPort = await freePort()
    const firstRtp = 25_000 + 2 * Math.floor(Math.random() * 2_000)
    const instance = await startInstance(teardown, {
      PATCHBAY_DATA_DIR: dataDir,
      PATCHBAY_VOICE_WORKERS: '2',
      JWT_API_SECRET: tokenSecret,
      PATCHBAY_LINK_TOKEN: LINK_TOKEN,
      PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.0/8',
      PATCHBAY_TRUNKS_ALLOW_NET: '127.0.0.0/8',
      PATCHBAY_SIP_PORT: String(sipPort),
      PATCHBAY_SIP_HOST: '127.0.0.1',
      PATCHBAY_RTP_PORTS: `${firstRtp}-${firstRtp + RTP_PORTS - 1}`,
      PATCHBAY_WORKER_MAX_LAG_MS: '1000',
      TELNYX_API_KEY: 'KEY1',
      TELNYX_PUBLIC_KEY: keys.publicKey,
      TELNYX_CONNECTION_ID: '42',
      TELNYX_API_URL: server.url,
      PLIVO_AUTH_ID: 'MA1',
      PLIVO_AUTH_TOKEN: 'plivo-token',
      PLIVO_API_URL: server.url,
      TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
      TWILIO_AUTH_TOKEN: 'twilio-token',
      TWILIO_API_URL: server.url,
      PATCHBAY_LOG_LEVEL: 'warn',
    })
    running = instance
    const quiet = await Tenant.signUp(instance.url, 'quiet', tokenSecret)
    const hostile = await Tenant.signUp(instance.url, 'hostile', tokenSecret)
    const quietAgentId = await quiet.talkingAgent()
    await created(
      hostile.post('/trunks', { name: 'fuzz', host: '127.0.0.1:9', allowed_addresses: ['127.0.0.1'] }),
      'The trunk',
    )
    await created(
      hostile.post('/phone-numbers', {
        phone_number: HOSTILE_NUMBER,
        provider: 'sip',
        agent_id: hostile.agentId,
        trunk: 'fuzz',
        inbound_webhook: `${server.url}/inbound`,
      }),
      'The number',
    )
    return {
      instance,
      hostile,
      quiet,
      quietAgentId,
      sipNumber: HOSTILE_NUMBER,
      sipPort,
      rtpPorts: [firstRtp, firstRtp + RTP_PORTS - 1],
      linkToken: LINK_TOKEN,
      telnyxHeaders: keys.headers,
      server,
      close,
    }
  } catch (error) {
    const said = running?.output().slice(-4_000) ?? ''
    await close()
    throw new Error(`The installation is not ready to be attacked: ${said}`, { cause: error })
  }
}

async function created(answer: Promise<{ status: number; body: unknown }>, what: string): Promise<void> {
  const { status, body } = await answer
  if (status !== 201) throw new Error(`${what} was refused with ${status}: ${JSON.stringify(body)}`)
}

async function openServer(): Promise<{ server: HostileServer; http: Server }> {
  const http = createServer(async (request, response) => {
    try {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      server.answer(request, Buffer.concat(parts).toString(), response)
    } catch {
      response.destroy()
    }
  })
  http.on('clientError', (_, socket) => socket.destroy())
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const server: HostileServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    answer: (_, __, response) => void response.end('{}'),
  }
  return { server, http }
}

const OPEN_MS = 5_000

/** A WebSocket of the installation; undefined where it is refused. */
export async function openSocket(
  world: World,
  path: string,
  headers: Record<string, string> = {},
): Promise<WebSocket | undefined> {
  const url = new URL(path, world.instance.url)
  url.protocol = 'ws:'
  const socket = new WebSocket(url, { headers, handshakeTimeout: OPEN_MS })
  socket.on('error', () => {})
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('open', () => resolve(true))
    socket.once('close', () => resolve(false))
    socket.once('error', () => resolve(false))
  })
  return isOpen ? socket : undefined
}

/** Sends what is left to send and closes; resolves soon in any case. */
export async function leave(socket: WebSocket, waitMs = 200): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs)
    socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
    socket.close()
  })
  socket.terminate()
}
