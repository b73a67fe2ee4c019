import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../../../api/start.ts'
import { deriveConfig } from '../../../config/effective.ts'
import { loadConfig } from '../../../config/load.ts'
import type { EffectiveConfig } from '../../../config/schema.ts'
import { type Clock, systemClock } from '../../../runtime/lib/clock.ts'
import { loadPlugins } from '../../../runtime/plugin/host.ts'
import { type PluginSettings, readPluginSettings } from '../../../runtime/plugin/manifest.ts'
import { createLogger, type Logger } from '../../../runtime/process/log.ts'
import { openStore, type Store } from '../../../store/database/database.ts'
import type { KeyScope } from '../../../store/database/schema.ts'
import { undeclared } from '../source/declared.ts'
import { undeclaredEvent } from '../source/declared-event.ts'
import { testReloads } from './reloads.ts'
import { startRoundRobin } from './round-robin.ts'
import { type Teardown, testDatabase, testFolder, testRedis } from './services.ts'

/** An answer, its JSON read. */
export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape and asserts on it
  body: any
  text: string
  bytes: Buffer
  /** Of an error. */
  code?: string
  params?: Record<string, string | number>
}

export interface Call {
  body?: unknown
  form?: FormData
  headers?: Record<string, string>
  query?: Record<string, string | number>
  signal?: AbortSignal
}

/** Calls an api as a browser would: keeps the cookies it is given. Throws when an answer is not what its route declares. */
export class ApiClient {
  readonly url: string
  readonly cookies = new Map<string, string>()
  headers: Record<string, string> = {}

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url
    this.headers = headers
  }

  get = (path: string, call?: Call) => this.request('GET', path, call)
  post = (path: string, call?: Call) => this.request('POST', path, call)
  put = (path: string, call?: Call) => this.request('PUT', path, call)
  patch = (path: string, call?: Call) => this.request('PATCH', path, call)
  delete = (path: string, call?: Call) => this.request('DELETE', path, call)

  async request(method: string, path: string, call: Call = {}): Promise<Answer> {
    const url = new URL(path, this.url)
    for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, String(value))
    const headers: Record<string, string> = { ...this.headers, ...call.headers }
    if (this.cookies.size > 0)
      headers.cookie ??= [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    if (call.body !== undefined) headers['content-type'] ??= 'application/json'
    const body =
      typeof call.body === 'string' ? call.body : call.body === undefined ? call.form : JSON.stringify(call.body)
    const response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
      ...(call.signal ? { signal: call.signal } : {}),
    })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    const bytes = Buffer.from(await response.arrayBuffer())
    const text = bytes.toString()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      bytes,
      body: isJson ? JSON.parse(text) : undefined,
    }
    const fault = undeclared(method, url.pathname, answer.status, answer.body)
    if (fault) throw new Error(fault)
    const faults = url.pathname === '/events' && isJson ? (answer.body.items ?? []).map(undeclaredEvent) : []
    for (const wrong of faults) if (wrong !== undefined) throw new Error(wrong)
    if (!isJson || response.status < 400) return answer
    // `undeclared` has looked at the rest; a test says what the caller reads.
    const { detail, code, request_id: _, params, ...more } = answer.body ?? {}
    return { ...answer, code, params, body: { detail, ...more } }
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ')
    const [name = '', value = ''] = pair.split('=')
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}

/** A registered, logged-in user in a workspace of its own. */
export interface TestUser {
  client: ApiClient
  id: string
  email: string
  password: string
  workspaceId: string
}

export interface TestApi {
  readonly url: string
  /** The addresses of its nodes themselves. */
  readonly nodes: readonly string[]
  readonly config: EffectiveConfig
  /** The database of this api, to look behind the curtain. */
  readonly store: Store
  readonly databaseUrl: string
  readonly redisUrl: string
  /** A client without credentials. */
  client(): ApiClient
  /** Registers and logs in a new user: Admin of a new workspace that may use everything, as one that an operator makes. */
  signUp(name?: string): Promise<TestUser>
  /** The same with what a stranger's new workspace may use. */
  signUpLimited(name?: string): Promise<TestUser>
  /** A new user who works in this workspace with this role. */
  member(of: TestUser, role: 'member' | 'developer' | 'admin'): Promise<TestUser>
  /** The first node says that it is not ready, then takes nothing new; its calls have so long to end. */
  drain(graceMs: number, leaveMs: number): Promise<void>
  /** A client with a new API key of the user's workspace. */
  keyClient(of: TestUser, scopes?: readonly KeyScope[]): Promise<ApiClient>
}

export interface TestApiOptions {
  /** What an operator adds to config/plugins.json: options, and grants on top of those there. */
  plugins?: Readonly<Record<string, PluginSettings>>
  /** Environment variables of the configuration. */
  env?: Record<string, string>
  clock?: Clock
  log?: Logger
  /** Instead of a database or a Redis of its own. */
  databaseUrl?: string
  redisUrl?: string
  /**
   * So many nodes behind one address, which gives each request to the next of them. Default: TEST_API_NODES, which tries tests over
   * several (`npm run statements -- --nodes=2`), else one.
   */
  nodes?: number
  /** Another node of the same installation. */
  beside?: Pick<TestApi, 'databaseUrl' | 'redisUrl'>
  /** Over what the environment says. */
  settings?: Partial<EffectiveConfig>
}

/** Starts an api in this process with a database and a Redis of its own; all is gone when `t` ends. */
export async function startTestApi(t: Teardown, options: TestApiOptions = {}): Promise<TestApi> {
  const { nodes: count = options.beside ? 1 : Number(process.env.TEST_API_NODES ?? 1), ...own } = options
  if (count === 1) return startTestNode(t, own)
  const nodes: string[] = []
  const url = await startRoundRobin(t, nodes)
  const behind = { ...own, env: { PUBLIC_URL: url, PATCHBAY_DATA_DIR: await testFolder(t), ...own.env } }
  const first = await startTestNode(t, behind)
  const beside = { ...behind, beside: first, settings: { ...own.settings, linkToken: first.config.linkToken } }
  const others = await Promise.all(Array.from({ length: count - 1 }, () => startTestNode(t, beside)))
  nodes.push(...[first, ...others].map((node) => node.url))
  return { ...first, url, nodes, client: () => new ApiClient(url), ...usersOf(first.store, url) }
}

async function startTestNode(t: Teardown, options: TestApiOptions): Promise<TestApi> {
  const [databaseUrl, redisUrl, dataDir] = await Promise.all([
    options.beside?.databaseUrl ?? options.databaseUrl ?? testDatabase(t),
    options.beside?.redisUrl ?? options.redisUrl ?? testRedis(t),
    testFolder(t),
  ])
  const config: EffectiveConfig = {
    ...deriveConfig(
      loadConfig({
        PORT: '0',
        PATCHBAY_ADMIN_PORT: '0',
        PATCHBAY_HOST: '127.0.0.1',
        PATCHBAY_DATA_DIR: dataDir,
        PATCHBAY_SIP_PORT: '0',
        // Its media worker is a matter of the tests that want one.
        PATCHBAY_WEBRTC: 'off',
        ...options.env,
      }),
    ),
    jwtApiSecret: 'test-secret-test-secret-test-secret',
    dataKey: 'test-data-key-test-data-key-test-data',
    linkToken: randomBytes(16).toString('hex'),
    ...options.settings,
  }
  const stopping = new AbortController()
  const env = { PATCHBAY_SIP_PORT: '0', ...options.env }
  const log = options.log ?? createLogger({ level: process.env.TEST_LOG_LEVEL ?? 'silent', name: 'api' })
  const { signal } = stopping
  const reloads = testReloads(config, log)
  const role = await startApi({
    config,
    reloads,
    env,
    plugins: await loadPlugins({ config, env, log, signal, ...(await settingsFileOf(t, options.plugins)) }),
    log,
    clock: options.clock ?? systemClock,
    requestStop: () => {},
    signal,
    databaseUrl,
    redisUrl,
  })
  t.teardown(async () => {
    stopping.abort()
    await role.stop(1000)
  })
  const store = openStore({ databaseUrl, maxConnections: 2 })
  t.teardown(() => store.close())
  const url = role.url ?? ''
  return {
    url,
    nodes: [url],
    config,
    store,
    databaseUrl,
    redisUrl,
    client: () => new ApiClient(url),
    ...usersOf(store, url),
    async drain(graceMs, leaveMs) {
      role.leave?.()
      await sleep(leaveMs)
      await role.stop(graceMs)
    },
  }
}

/** Makes users who call the address. */
function usersOf(store: Store, url: string) {
  let users = 0

  async function signUpLimited(name = 'Ada Lovelace'): Promise<TestUser> {
    const email = `user-${++users}@example.com`
    const password = 'correct horse'
    const client = new ApiClient(url)
    await client.post('/auth/signup', { body: { name, email, password, phone_number: '+14155550123' } })
    const { body } = await client.post('/auth/login', { body: { email, password } })
    return { client, id: body.user.id, email, password, workspaceId: body.user.current_workspace_id }
  }

  async function signUp(name?: string): Promise<TestUser> {
    const user = await signUpLimited(name)
    await store.global.deleteFrom('workspace_quotas').where('workspace_id', '=', user.workspaceId).execute()
    return user
  }

  return {
    signUp,
    signUpLimited,
    async member(of: TestUser, role: 'member' | 'developer' | 'admin') {
      const user = await signUp('Grace Hopper')
      await of.client.post(`/workspaces/${of.workspaceId}/invite`, { body: { email: user.email, role } })
      await user.client.post(`/workspaces/${of.workspaceId}/switch`)
      return { ...user, workspaceId: of.workspaceId }
    },
    async keyClient(of: TestUser, scopes?: readonly KeyScope[]) {
      const { body } = await of.client.post('/api-keys', { body: { name: 'test', ...(scopes ? { scopes } : {}) } })
      return new ApiClient(url, { 'x-api-key': body.key })
    },
  }
}

/** The checkout's settings of plugins with these on top, in a file of their own. */
async function settingsFileOf(t: Teardown, more: TestApiOptions['plugins']): Promise<{ settingsFile?: string }> {
  if (more === undefined) return {}
  const all = await readPluginSettings(join(import.meta.dirname, '../../../config/plugins.json'))
  const merged: Record<string, PluginSettings> = { ...all }
  for (const [name, { grant, options }] of Object.entries(more)) {
    merged[name] = {
      ...all[name],
      ...(options === undefined ? {} : { options }),
      grant: { ...all[name]?.grant, ...grant },
    }
  }
  const settingsFile = join(await testFolder(t), 'plugins.json')
  await writeFile(settingsFile, JSON.stringify(merged))
  return { settingsFile }
}
