import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { PermissionQuestion } from './deno-permissions.ts'

/** Answers a question: the reason why not, or undefined where it may. */
type AnswerPermission = (question: PermissionQuestion) => Promise<string | undefined>

/** A question is a line; the longest path fits in. */
const MAX_LINE_CHARS = 64 << 10

/** What asks for each permission of one process. */
export interface PermissionBroker {
  /** Of its socket, for the variable DENO_PERMISSION_BROKER_PATH. */
  path: string
  close(): void
}

/**
 * Answers a Deno process each time its code is about to use a permission (docs.deno.com, "Permission broker"; read in Deno 2.9.6):
 * lines of JSON over a Unix socket, `{ id, permission, value }` and `{ id, result, reason }`. Takes one connection; without an answer
 * Deno ends.
 */
export async function openPermissionBroker(answer: AnswerPermission): Promise<PermissionBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'pb-'))
  const path = join(folder, 's')
  let connection: Socket | undefined
  const remove = (): void => inBackground('plugin', rm(folder, { recursive: true, force: true }))
  const server = createServer(
    boundary('plugin', (socket: Socket) => {
      if (connection !== undefined) {
        socket.destroy()
        return
      }
      connection = socket
      server.close()
      remove()
      socket.unref()
      serve(socket, answer)
    }),
  )
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', boundary('plugin', reject))
    server.listen(path, () => resolve())
  })
  return {
    path,
    close() {
      server.close()
      connection?.destroy()
      remove()
    },
  }
}

function serve(socket: Socket, answer: AnswerPermission): void {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('error', () => undefined)
  socket.on(
    'data',
    boundary(
      'plugin',
      (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        if (rest.length > MAX_LINE_CHARS) throw new RangeError('A question about a permission is too long')
        for (const line of lines) inBackground('plugin', reply(socket, line, answer))
      },
      () => socket.destroy(),
    ),
  )
}

async function reply(socket: Socket, line: string, answer: AnswerPermission): Promise<void> {
  try {
    const { id, permission, value } = JSON.parse(line) as { id: number; permission: string; value: unknown }
    const question = { permission: String(permission), value: typeof value === 'string' ? value : null }
    const reason = await answer(question)
    socket.write(`${JSON.stringify(reason === undefined ? { id, result: 'allow' } : { id, result: 'deny', reason })}\n`)
  } catch (error) {
    // Unanswered, Deno ends.
    socket.destroy()
    throw error
  }
}
