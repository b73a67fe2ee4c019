import { freePort } from '../sip/sip-peers.ts'
import { waitUntil } from '../world/wait-until.ts'
import { type RoleProcess, startRole, type Within } from './instance.ts'
import { type Teardown, testDatabase, testFolder, testRedis } from './services.ts'

export interface Role extends RoleProcess {
  readonly adminPort: number
}

export interface ApiNode extends Role {
  readonly url: string
  readonly sipPort: number
  readonly dataDir: string
}

/**
 * An installation of several machines, on this one: each role a process, all with the same store. `within`: what a role runs from; `more`:
 * its settings beside those of the installation.
 */
export async function startInstallation(
  t: Teardown,
  {
    calls,
    limitMs,
    database = testDatabase(t),
    voiceDrainMs = limitMs,
    // A call is to be opened in this time, however busy the machine.
    leaveMs = 30_000,
  }: { calls: number; limitMs: number; database?: Promise<string>; voiceDrainMs?: number; leaveMs?: number },
) {
  const [databaseUrl, redisUrl, dataDir] = await Promise.all([database, testRedis(t), testFolder(t)])
  const shared = {
    PATCHBAY_HOST: '127.0.0.1',
    PATCHBAY_DATA_DIR: dataDir,
    PATCHBAY_LINK_TOKEN: 'a-token-of-this-installation',
    PATCHBAY_LEAVE_MS: String(leaveMs),
    PATCHBAY_DRAIN_MS: String(limitMs),
    PATCHBAY_QUEUE_WAIT_MS: '30000',
    PATCHBAY_WORKER_CAPACITY: String(20 + calls),
  }
  const store = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    JWT_API_SECRET: 'j'.repeat(32),
    PATCHBAY_DATA_KEY: 'd'.repeat(32),
  }
  const ports = { a: await freePort(), b: await freePort() }
  const apiUrls = Object.values(ports).map((port) => `ws://127.0.0.1:${port}`)
  let rtp = 20_000 + Math.floor(Math.random() * 2_000) * 2
  return {
    async api(name: 'a' | 'b', within?: Within, more: Record<string, string> = {}): Promise<ApiNode> {
      const [adminPort, sipPort] = [await freePort(), await freePort()]
      rtp += 200
      const env = {
        ...shared,
        ...store,
        PORT: String(ports[name]),
        PATCHBAY_ADMIN_PORT: String(adminPort),
        PATCHBAY_SIP_HOST: '127.0.0.1',
        PATCHBAY_SIP_PORT: String(sipPort),
        PATCHBAY_RTP_PORTS: `${rtp}-${rtp + 99}`,
        PATCHBAY_ALLOW_NET: 'sip:127.0.0.1',
        PATCHBAY_TRUNKS_ALLOW_NET: '127.0.0.1',
        ...more,
      }
      const role = startRole(t, ['api'], env, within)
      return { ...role, adminPort, sipPort, dataDir, url: `http://127.0.0.1:${ports[name]}` }
    },
    async jobs(within?: Within, more: Record<string, string> = {}): Promise<Role> {
      const adminPort = await freePort()
      const env = { ...shared, ...store, PATCHBAY_JOBS_ADMIN_PORT: String(adminPort), ...more }
      return { ...startRole(t, ['jobs'], env, within), adminPort }
    },
    async voice(within?: Within, more: Record<string, string> = {}): Promise<Role> {
      const adminPort = await freePort()
      const env = {
        PATCHBAY_VOICE_ADMIN_PORT: String(adminPort),
        PATCHBAY_API_URLS: apiUrls.join(','),
        PATCHBAY_DRAIN_MS: String(voiceDrainMs),
        ...more,
      }
      return { ...startRole(t, ['voice'], { ...shared, ...env }, within), adminPort }
    },
  }
}

/** What `/ready` of the role's own port says: `ready`, `not_ready`, `draining`, or `gone`. */
async function statusOf({ adminPort }: Role): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined)
  if (answer === undefined) return 'gone'
  const { status } = (await answer.json()) as { status: string }
  return answer.status === (status === 'ready' ? 200 : 503) ? status : `${status} with ${answer.status}`
}

export async function roleWhen(role: Role, status: string): Promise<void> {
  let last = 'nothing'
  const isReached = async () => {
    last = await statusOf(role)
    if (last !== status && role.child.exitCode !== null) {
      throw new Error(`It ended before it was ${status}: ${role.output()}`)
    }
    return last === status
  }
  await waitUntil(isReached, () => `a role to be ${status}; it was ${last}: ${role.output()}`)
}
