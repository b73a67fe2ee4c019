import { LINK_PROTOCOL, WORKER_MESSAGE } from '../../../runtime/call/link/messages.ts'
import { fromSchema, type JsonSchema } from '../from-schema.ts'
import { mutatedBytes, mutatedJson } from '../mutate.ts'
import type { Surface } from '../surface.ts'
import { leave, openSocket } from '../world.ts'

const MESSAGES = 40
const WAIT_MS = 100

/** A voice worker with the right token that sends what is not in the protocol; and others without. */
export const link: Surface = {
  name: 'link',
  atOnce: 6,
  async open(world, random) {
    const schema = WORKER_MESSAGE as unknown as JsonSchema
    let workers = 0
    return {
      attempt: async () => {
        const token = random.chance(0.9) ? world.linkToken : 'wrong'
        const socket = await openSocket(world, '/link', { authorization: `Bearer ${token}` })
        if (socket === undefined) return
        // It takes no calls: those of the quiet tenant are not to come here.
        const hello = {
          type: 'hello',
          protocol: LINK_PROTOCOL,
          workerId: `fuzz-${workers++}`,
          capacity: 0,
          metricsUrl: '',
        }
        socket.send(random.chance(0.9) ? JSON.stringify(hello) : mutatedJson(random, hello))
        for (let i = 0; i < MESSAGES && socket.readyState === socket.OPEN; i++) {
          if (random.chance(0.3)) {
            const audio = Buffer.concat([
              Buffer.from([1, 0, 1, 0, 0, 0, 1]),
              Buffer.alloc(8),
              Buffer.from([0, 4, 1, 2, 3, 4]),
            ])
            socket.send(random.chance(0.7) ? mutatedBytes(random, audio) : audio)
          } else {
            const message = fromSchema(random, schema) as { type?: string; capacity?: number; workerId?: string }
            if (message.type === 'hello') continue
            if (message.capacity !== undefined) message.capacity = 0
            socket.send(mutatedJson(random, message, 0.15))
          }
        }
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
        if (random.chance(0.5)) socket.terminate()
        else await leave(socket)
      },
    }
  },
}
