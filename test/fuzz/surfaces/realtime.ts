import { CLIENT_MESSAGES } from '../../../api/realtime/messages.ts'
import { fromSchema, type JsonSchema } from '../from-schema.ts'
import { mutatedJson } from '../mutate.ts'
import type { Surface } from '../surface.ts'
import { leave, openSocket } from '../world.ts'

const SCHEMAS = Object.values(CLIENT_MESSAGES) as unknown as JsonSchema[]
const MESSAGES = 30
const WAIT_MS = 300

/** Messages and audio of a page's visitor. */
export const realtime: Surface = {
  name: 'realtime',
  atOnce: 6,
  async open(world, random) {
    return {
      attempt: async () => {
        const { body } = await world.hostile.get(`/calls/generate-token?agent_id=${world.hostile.agentId}`)
        const socket = await openSocket(world, `/realtime?token=${body.token}`)
        if (socket === undefined) return
        for (let i = 0; i < MESSAGES && socket.readyState === socket.OPEN; i++) {
          if (random.chance(0.3)) socket.send(random.bytes(random.pick([0, 1, 2, 639, 640, 641, 4_000, 20_000])))
          else socket.send(mutatedJson(random, fromSchema(random, random.pick(SCHEMAS))))
          if (random.chance(0.1)) await new Promise((resolve) => setTimeout(resolve, random.below(WAIT_MS)))
        }
        await new Promise((resolve) => setTimeout(resolve, random.below(WAIT_MS)))
        if (random.chance(0.5)) socket.terminate()
        else await leave(socket)
      },
    }
  },
}
