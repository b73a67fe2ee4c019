/** The callees in a process of their own, as api nodes are: `node callees-process.ts <databaseUrl> <redisUrl> <rulesFile> <options>`. */

import { loadCallingRules } from '../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../runtime/dialing/zones.ts'
import { createLogger } from '../../runtime/process/log.ts'
import { createRedis } from '../../store/redis/client.ts'
import { type CalleesOptions, startCallees } from './callees.ts'

export type ToCallees = { workspaceId: string; callId: string }
/** `dialled`: since the figures before. */
export interface CalleesFigures {
  live: number
  talking: number
  people: number
  abandoned: number
  dialled: string[]
}

const FIGURES_MS = 100

const [databaseUrl = '', redisUrl = '', rulesFile = '', options = ''] = process.argv.slice(2)
const redis = await createRedis(redisUrl, createLogger({ level: 'error', name: 'bench' }))
const rules = await loadCallingRules(rulesFile)
const places = shippedPlaces()
const callees = await startCallees(
  { databaseUrl, redis, calling: { rules, places } },
  JSON.parse(options) as CalleesOptions,
)
let told = 0
setInterval(() => {
  const { live, talking, people, abandoned } = callees
  const dialled = callees.dialled.slice(told)
  told += dialled.length
  process.send?.({ live, talking, people, abandoned, dialled } satisfies CalleesFigures)
}, FIGURES_MS)
process.on('message', ({ workspaceId, callId }: ToCallees) => callees.place(workspaceId, callId))
process.on('disconnect', () => process.exit(0))
