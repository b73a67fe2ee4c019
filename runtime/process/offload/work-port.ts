import { Socket } from 'node:net'
import { frameOf, messagesFrom, READY } from './work-channel.ts'

/** Where a process that ProcessHelper started hears its work and tells of it. */
export interface WorkPort {
  /** Ends with the process that started this one. */
  readonly messages: AsyncGenerator<unknown>
  tell(message: unknown): void
}

/** As child_process numbers the pipes that it starts a program with. */
const DESCRIPTOR = 3

/** Once a process. */
export function openWorkPort(): WorkPort {
  const socket = new Socket({ fd: DESCRIPTOR, readable: true, writable: true })
  // Nobody is there any more: the messages end.
  socket.on('error', () => {})
  socket.write(frameOf(READY))
  return {
    messages: messagesFrom(socket),
    tell(message) {
      socket.write(frameOf(message))
    },
  }
}
