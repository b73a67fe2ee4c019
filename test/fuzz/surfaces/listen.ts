import { SUPERVISOR_MESSAGE, SUPERVISOR_SIGNAL } from '../../../api/supervision/messages.ts'
import { fromSchema, type JsonSchema } from '../from-schema.ts'
import { mutatedJson } from '../mutate.ts'
import type { Surface } from '../surface.ts'
import { leave, openSocket } from '../world.ts'

const SCHEMAS = [SUPERVISOR_MESSAGE, SUPERVISOR_SIGNAL] as unknown as JsonSchema[]
const MESSAGES = 20
const STARTED_MS = 3_000
const WAIT_MS = 200

/** Messages and audio of a supervisor at a call of their own workspace. */
export const listen: Surface = {
  name: 'listen',
  atOnce: 6,
  async open(world, random) {
    return {
      attempt: async () => {
        const { body } = await world.hostile.get(`/calls/generate-token?agent_id=${world.hostile.agentId}`)
        const caller = await openSocket(world, `/realtime?token=${body.token}`)
        if (caller === undefined) return
        try {
          const started = await new Promise<string | undefined>((resolve) => {
            caller.on('message', (data, isBinary) => {
              if (isBinary) return
              const message = JSON.parse(String(data)) as { type: string; call_log_id?: string }
              if (message.type === 'session.started') resolve(message.call_log_id)
            })
            caller.on('close', () => resolve(undefined))
            setTimeout(() => resolve(undefined), STARTED_MS)
          })
          if (started === undefined) return
          const { body: grant, status } = await world.hostile.post(`/calls/${started}/listen`, {})
          if (status !== 201) return
          const url = new URL(String(grant.url), world.instance.url)
          const socket = await openSocket(world, url.pathname + url.search)
          if (socket === undefined) return
          for (let i = 0; i < MESSAGES && socket.readyState === socket.OPEN; i++) {
            if (random.chance(0.2)) socket.send(random.bytes(random.below(3_000)))
            else socket.send(mutatedJson(random, fromSchema(random, random.pick(SCHEMAS)), 0.15))
            if (random.chance(0.2)) await new Promise((resolve) => setTimeout(resolve, random.below(WAIT_MS)))
          }
          await leave(socket)
        } finally {
          await leave(caller)
        }
      },
    }
  },
}
