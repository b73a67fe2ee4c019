import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Callees, CalleesOptions } from './callees.ts'
import type { CalleesFigures, ToCallees } from './callees-process.ts'
import type { World } from './world.ts'

/** Callees in a process of their own: what their calls cost is not the dialer's. Figures are a tenth of a second old at most. */
export async function forkCallees(
  { databaseUrl, redisUrl, rulesFile }: World,
  options: CalleesOptions,
): Promise<Callees> {
  const program = join(import.meta.dirname, 'callees-process.ts')
  const child = fork(program, [databaseUrl, redisUrl, rulesFile, JSON.stringify(options)])
  const exited = once(child, 'exit')
  let figures: Omit<CalleesFigures, 'dialled'> = { live: 0, talking: 0, people: 0, abandoned: 0 }
  const dialled: string[] = []
  child.on('message', (message) => {
    figures = message as CalleesFigures
    dialled.push(...(message as CalleesFigures).dialled)
  })
  const died = exited.then(([code]) => Promise.reject(new Error(`The callees ended with ${code}`)))
  died.catch(() => {})
  await Promise.race([once(child, 'message'), died])
  return {
    get live() {
      return figures.live
    },
    get talking() {
      return figures.talking
    },
    get people() {
      return figures.people
    },
    get abandoned() {
      return figures.abandoned
    },
    dialled,
    place: (workspaceId, callId) => void child.send({ workspaceId, callId } satisfies ToCallees),
    async stop() {
      child.kill()
      await exited
    },
  }
}
