import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { runMain } from '../../test/support/instance/instance.ts'
import { checkoutOf } from '../../test/support/instance/version-before.ts'
import { startStand } from './stand.ts'

const READERS = 2
const READ_MS = 45_000
/** Between two reports: with one at every moment no table could ever be changed. */
const PAUSE_MS = 15_000
const APART_MS = 5_000
const BEFORE_MS = 10_000
const AFTER_MS = 10_000

/**
 * Has the version of `commit` run on many calls, under load and under readers that keep their transactions open for 45 s of each minute, while this
 * version migrates its database. Resolves with what somebody noticed.
 */
export async function migrateLarge(options: {
  calls: number
  commit: string
  say(line: string): void
}): Promise<string[]> {
  const { calls, commit, say } = options
  const teardowns: (() => unknown)[] = []
  const within = await checkoutOf({ teardown: (end) => void teardowns.push(end) }, commit)
  const stand = await startStand({ calls, within, say })
  const stopping = new AbortController()
  try {
    say(`${commit} runs on ${calls} calls, ${await stand.databaseMb()} MB`)
    await stand.load.start()
    await sleep(BEFORE_MS)
    say(`Before: ${stand.load.told()}`)
    const readers = Array.from({ length: READERS }, (_, n) => read(stand.databaseUrl, n, stopping.signal))
    await sleep(2 * APART_MS)
    const settings = {
      DATABASE_URL: stand.databaseUrl,
      REDIS_URL: 'redis://127.0.0.1:1',
      JWT_API_SECRET: 'j'.repeat(32),
    }
    const env = { ...settings, PATCHBAY_DATA_KEY: 'd'.repeat(32), PATCHBAY_DATA_DIR: stand.folder }
    const plan = await runMain(['migrate', '--plan'], env)
    say(plan.stdout.trim())
    const startedMs = performance.now()
    const { code, stdout, stderr } = await runMain(['migrate'], env)
    const tookS = (performance.now() - startedMs) / 1_000
    for (const line of stderr.split('\n').filter((text) => text.includes('waits for pid'))) say(line.slice(0, 300))
    say(`migrate ended with ${code} after ${tookS.toFixed(1)} s: ${stdout.trim()}`)
    say(`Meanwhile: ${stand.load.told()}`)
    await sleep(AFTER_MS)
    say(`Afterwards, the earlier version on the new database: ${stand.load.told()}`)
    stopping.abort()
    await Promise.all(readers)
    const broken = await stand.load.stop()
    return code === 0 ? broken : [`migrate ended with ${code}: ${stderr.slice(-1_000)}`, ...broken]
  } finally {
    stopping.abort()
    await stand.stop()
    for (const end of teardowns) await end()
  }
}

/** Reports with pauses, each of which holds its locks for 45 s. */
async function read(databaseUrl: string, number: number, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  await sleep(number * APART_MS)
  while (!signal.aborted) {
    await client.query('begin')
    await client.query('select count(*) from calls where cost_llm > 0.005')
    await client.query('select count(*) from prospects')
    await sleep(READ_MS, undefined, { signal }).catch(() => {})
    await client.query('commit')
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
  await client.end()
}
