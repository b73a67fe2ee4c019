import t from 'tap'
import { ClientOutbox } from '../../../../api/realtime/outbox.ts'
import type { Socket } from '../../../../runtime/process/web-socket.ts'

/** A socket whose peer reads only when the test says so. */
class SlowSocket implements Socket {
  readonly sent: (string | Uint8Array)[] = []
  buffered = 0

  send(data: string | Uint8Array): boolean {
    this.sent.push(data)
    this.buffered += data.length
    return true
  }

  bufferedBytes(): number {
    return this.buffered
  }

  close(): void {}
  ping(): void {}

  terminate(): void {}
}

const audio = (byte: number) => new Uint8Array(100).fill(byte)
const bytesOf = (sent: readonly (string | Uint8Array)[]) =>
  sent.map((data) => (typeof data === 'string' ? data : data[0]))

t.test('what a slow reader missed is the oldest audio, and messages keep their order', async (t) => {
  const socket = new SlowSocket()
  const outbox = new ClientOutbox(socket, 400)
  for (let i = 0; i < 10; i++) {
    t.ok(outbox.send(audio(i), 0))
    if (i === 4) t.ok(outbox.send('mark', 0))
  }
  t.same(bytesOf(socket.sent), [0, 1], 'half of it waits in the socket')
  socket.buffered = 0
  outbox.drain()
  socket.buffered = 0
  outbox.drain()
  t.same(bytesOf(socket.sent), [0, 1, 'mark', 6, 7, 8, 9])
})

t.test('audio that waits is dropped when the caller barged in, messages are not', async (t) => {
  const socket = new SlowSocket()
  const outbox = new ClientOutbox(socket, 400)
  for (let i = 0; i < 4; i++) outbox.send(audio(i), 0)
  outbox.send('mark', 0)
  outbox.clearAudio()
  outbox.send('clear', 0)
  outbox.flush()
  t.same(bytesOf(socket.sent), [0, 1, 'mark', 'clear'])
})

t.test('a reader that does not catch up in ten seconds is given up, one that does is not', async (t) => {
  const socket = new SlowSocket()
  const outbox = new ClientOutbox(socket, 400)
  socket.buffered = 1_000
  t.ok(outbox.send(audio(1), 0))
  t.ok(outbox.send(audio(2), 9_000))
  t.notOk(outbox.send(audio(3), 10_001))
  socket.buffered = 0
  outbox.drain()
  socket.buffered = 0
  outbox.drain()
  socket.buffered = 1_000
  t.ok(outbox.send(audio(4), 30_000), 'counted anew')
})

t.test('messages that wait are bounded too', async (t) => {
  const socket = new SlowSocket()
  const outbox = new ClientOutbox(socket, 400)
  socket.buffered = 1_000
  const accepted = Array.from({ length: 1_001 }, () => outbox.send('state', 0))
  t.equal(accepted.filter((ok) => ok).length, 1_000)
})

t.test('audio that waits is a copy', async (t) => {
  const socket = new SlowSocket()
  const outbox = new ClientOutbox(socket, 400)
  socket.buffered = 1_000
  const bytes = audio(1)
  outbox.send(bytes, 0)
  bytes.fill(9)
  socket.buffered = 0
  outbox.drain()
  t.same(bytesOf(socket.sent), [1])
})
