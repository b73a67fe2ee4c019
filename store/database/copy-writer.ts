import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** Larger than any piece but one with a giant cell. */
const BUFFER_BYTES = 256 * 1024
/** Of a UTF-16 code unit. */
const MAX_UTF8_BYTES = 3
/** What the protocol adds to the pieces under way, generously. */
const HEADERS_BYTES = 64

/** A COPY under way. `end` or `fail` finishes it. */
export interface CopyWriter {
  /** Sends lines of COPY's text format. Resolves when more can be sent. */
  write(text: string): Promise<void>
  end(): Promise<void>
  /** Tells Postgres to give up. */
  fail(): void
}

/**
 * COPY … FROM STDIN whose bytes leave from two buffers in turn: while one is on its way to Postgres the other is filled, and
 * megabytes of text make no garbage that waits for a collection.
 */
export function openCopy(client: Client, statement: string): CopyWriter {
  const copy = client.query(copyFrom(statement))
  const { stream: socket } = (client as unknown as { connection: { stream: Socket } }).connection
  const failed = once(copy, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => {})
  const buffers = [Buffer.allocUnsafeSlow(BUFFER_BYTES), Buffer.allocUnsafeSlow(BUFFER_BYTES)] as const
  let turn: 0 | 1 = 0
  const underWay = () => copy.writableLength + socket.writableLength

  const drained = async () => {
    const either = new AbortController()
    const { signal } = either
    const waits = [once(socket, 'drain', { signal }), once(copy, 'drain', { signal })]
    for (const wait of waits) wait.catch(() => {})
    try {
      await Promise.race([...waits, failed])
    } finally {
      either.abort()
    }
  }

  return {
    async write(text) {
      let piece: Buffer
      if (text.length * MAX_UTF8_BYTES > BUFFER_BYTES) piece = Buffer.from(text)
      else {
        const buffer = buffers[turn]
        turn = turn === 0 ? 1 : 0
        piece = buffer.subarray(0, buffer.write(text))
      }
      copy.write(piece)
      // Until what was sent before this piece has left, the other buffer is in use.
      while (underWay() > piece.length + HEADERS_BYTES) await drained()
    },
    async end() {
      copy.end()
      await Promise.race([once(copy, 'finish'), failed])
    },
    fail() {
      copy.destroy()
    },
  }
}
