import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createAccessTokens } from '../../api/auth/access-token.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { createUser } from '../../store/accounts/users.ts'
import type { Store } from '../../store/database/database.ts'
import { SECRET } from './work.ts'

const START_LIMIT_MS = 30_000
const ANSWER_LIMIT_MS = 60_000

/** A server of the benchmark, alone in a process. */
export class ServerProcess {
  readonly #child: ChildProcess
  url = ''

  constructor(name: 'ours' | 'fastify' | 'express', databaseUrl: string) {
    this.#child = fork(join(import.meta.dirname, `${name}.ts`), [databaseUrl])
  }

  async ready(): Promise<this> {
    const [{ port }] = (await once(this.#child, 'message', { signal: AbortSignal.timeout(START_LIMIT_MS) })) as [
      { port: number },
    ]
    this.url = `http://127.0.0.1:${port}`
    return this
  }

  /** CPU time used so far, in seconds. */
  async cpuS(): Promise<number> {
    this.#child.send('cpu')
    const [{ cpu }] = (await once(this.#child, 'message', { signal: AbortSignal.timeout(START_LIMIT_MS) })) as [
      { cpu: NodeJS.CpuUsage },
    ]
    return (cpu.user + cpu.system) / 1e6
  }

  async stop(): Promise<void> {
    this.#child.disconnect()
    await once(this.#child, 'exit')
  }
}

/** A user with a workspace, and a token that the servers take. */
export async function makeTokenUser(store: Store, number: number): Promise<{ token: string; workspaceId: string }> {
  const tokens = createAccessTokens(SECRET, 3600, systemClock)
  const name = { name: `User ${number}`, email: `user-${number}@example.com` }
  const user = { ...name, passwordHash: '', phoneNumber: '+14155550123' }
  const { id, email, current_workspace_id } = await createUser(store.global, user)
  return { token: await tokens.issue({ id, email }), workspaceId: current_workspace_id ?? '' }
}

/** How long a request takes, with its answer read. Throws for any answer but 200. */
export async function answerTimeMs(url: string, token: string): Promise<number> {
  const startMs = performance.now()
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
  const answer = await fetch(url, { headers: { cookie: `access_token=${token}` }, signal })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status} ${text}`)
  return performance.now() - startMs
}
