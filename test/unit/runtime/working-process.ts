/** A process for process-helper.test.ts: tells what it was told, and does what it is asked to. */
import { openWorkPort } from '../../../runtime/process/offload/work-port.ts'

const { messages, tell } = openWorkPort()
const hoard: Buffer[] = []
for await (const message of messages) {
  if (message === 'hoard') hoard.push(Buffer.alloc(300 * 1024 * 1024, 1))
  if (message === 'die') process.exit(3)
  if (message === 'spin') for (;;);
  tell(
    message instanceof Uint8Array
      ? { bytes: message.length, sum: message.reduce((sum, byte) => sum + byte, 0) }
      : message,
  )
}
process.exit()
