import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { createLogger } from '../../runtime/process/log.ts'
import { startEmbedded } from '../../store/embedded/embedded.ts'
import { type ApiNode, roleWhen, startInstallation } from '../../test/support/instance/installation.ts'
import type { Within } from '../../test/support/instance/instance.ts'
import { connectAdmin } from '../../test/support/world/password-role.ts'
import { makeAgent } from '../demo/call.ts'
import type { RestClient } from '../demo/rest.ts'
import { fillCalls } from './fill.ts'
import { Load } from './load.ts'

const STOP_MS = 15_000
const LIMIT_MS = 3_600_000
const MB = 1e6
const AGENT = {
  ...{ agent_name: 'Ava', system_prompt: 'You answer for a shop.', first_message: 'Hi.', LLM_provider: 'sim' },
  ...{
    TTS_provider: 'sim',
    TTS_voice: 'tone',
    LLM_model: JSON.stringify({ script: [], otherwise: 'You said {question}.' }),
  },
}
/** Open at any hour. */
const RULES = { rules: [{ region: 'US', hours: { '1-7': '00:00-24:00' }, citation: 'bench', as_of: '2026-01-01' }] }

/** An installation with many calls behind it, under load. */
export interface Stand {
  readonly folder: string
  readonly databaseUrl: string
  readonly admin: pg.Client
  readonly api: ApiNode
  /** Of the user whose agent has the calls. */
  readonly rest: RestClient
  readonly agentId: string
  readonly load: Load
  /** Of the database's files, in MB. */
  databaseMb(): Promise<number>
  stop(): Promise<void>
}

/** `within`: the version that runs; default: this one. */
export async function startStand(options: { calls: number; within?: Within; say(line: string): void }): Promise<Stand> {
  const { calls, within, say } = options
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-large-'))
  const teardowns: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })]
  const t = { teardown: (end: () => unknown) => void teardowns.unshift(end) }
  const stop = async (): Promise<void> => {
    for (const end of teardowns) await end()
  }
  try {
    const log = createLogger({ level: 'error', name: 'large' })
    const services = { dataDir: join(folder, 'database'), log, searchPath: process.env.PATH }
    const embedded = await startEmbedded({ ...services, postgres: true, redis: false })
    t.teardown(() => embedded.stop(STOP_MS))
    const databaseUrl = embedded.databaseUrl ?? ''
    const rulesFile = join(folder, 'rules.json')
    await writeFile(rulesFile, JSON.stringify(RULES))
    const installation = await startInstallation(t, {
      ...{ calls: 20, limitMs: LIMIT_MS, database: Promise.resolve(databaseUrl), voiceDrainMs: 500, leaveMs: 500 },
    })
    const more = { PATCHBAY_CALLING_RULES: rulesFile, PATCHBAY_LOG_LEVEL: 'warn', PATCHBAY_RECORD_CALLS: 'true' }
    const api = await installation.api('a', within, more)
    await roleWhen(api, 'not_ready')
    const [voice, jobs] = [await installation.voice(within), await installation.jobs(within, more)]
    for (const role of [api, voice, jobs]) await roleWhen(role, 'ready')
    const { rest, agentId } = await makeAgent(api.url, AGENT)
    const admin = await connectAdmin(databaseUrl)
    t.teardown(() => admin.end())
    await fillCalls(admin, { agentId, calls, say })
    const databaseMb = async (): Promise<number> => {
      const { rows } = await admin.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
      return Math.round(Number(rows[0]?.bytes) / MB)
    }
    return { folder, databaseUrl, admin, api, rest, agentId, load: new Load(rest, agentId), databaseMb, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
