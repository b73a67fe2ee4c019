import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Teardown } from '../instance/services.ts'

/**
 * A server, in a thread of its own, that answers as `?how=…&bytes=…` says, byte for byte. JSON-RPC is answered as an MCP server
 * does, with `bytes` of text; other requests with `bytes` of JSON.
 */

export const FRAMINGS = [
  ...[
    'length',
    'chunks-of-1',
    'chunks-of-4093',
    'one-chunk',
    'until-close',
    'slow',
    'gzip',
    'deflate',
    'br',
    'early',
    'continue',
  ],
  ...['trailers', 'short-length', 'cut', 'cut-chunks', 'cut-gzip', 'false-gzip', 'unknown-coding', 'bomb', 'never'],
  ...['drip', 'reset', 'no-http', 'long-head', '204', '304'],
] as const
export type Framing = (typeof FRAMINGS)[number]

/** What the bomb becomes once it is decompressed. */
export const BOMB_BYTES = 256 * 1024 * 1024
let bomb: Buffer | undefined

/** JSON of so many bytes; fewer than 13: none. */
export const jsonOf = (bytes: number): string =>
  bytes < 13 ? 'x'.repeat(bytes) : `{"dial":true}${' '.repeat(bytes - 13)}`

export async function startOddAnswers(t: Teardown): Promise<{ urlOf(how: Framing, bytes: number): string }> {
  const worker = new Worker(new URL(import.meta.url), { workerData: 'odd-answers' })
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  t.teardown(() => worker.terminate())
  return { urlOf: (how, bytes) => `http://127.0.0.1:${port}/?how=${how}&bytes=${bytes}` }
}

if (parentPort !== null && workerData === 'odd-answers') {
  const server = createServer((socket) => {
    let received = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const end = received.indexOf('\r\n\r\n')
      const head = received.subarray(0, Math.max(0, end)).toString()
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (end < 0 || received.length < end + 4 + length) return
      const text = received.subarray(end + 4, end + 4 + length).toString()
      received = received.subarray(end + 4 + length)
      void answer(socket, head, text)
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') parentPort?.postMessage(address.port)
  })
}

async function answer(socket: Socket, head: string, text: string): Promise<void> {
  const [method = '', path = ''] = head.split(' ')
  const query = new URL(path, 'http://odd.invalid').searchParams
  const bytes = Number(query.get('bytes'))
  const asked = text.includes('"jsonrpc"') ? (JSON.parse(text) as { id?: number; method: string }) : undefined
  if (asked !== undefined && asked.id === undefined)
    return void socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n')
  const body = Buffer.from(asked === undefined ? jsonOf(bytes) : rpcAnswer(asked, bytes))
  const how = asked?.method === 'initialize' ? 'length' : (query.get('how') as Framing)
  if (method === 'HEAD') return void socket.write(headOf([`content-length: ${body.length}`]))
  await write(socket, how, body)
}

function rpcAnswer({ id, method }: { id?: number; method: string }, bytes: number): string {
  const result = {
    initialize: {
      protocolVersion: '2025-03-26',
      capabilities: { tools: {} },
      serverInfo: { name: 'odd', version: '1' },
    },
    'tools/list': { tools: [{ name: 'odd', description: 'x'.repeat(bytes), inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'x'.repeat(bytes) }] },
  }[method]
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

const headOf = (lines: readonly string[], status = '200 OK'): string =>
  [`HTTP/1.1 ${status}`, 'content-type: application/json', ...lines, '', ''].join('\r\n')

function chunked(body: Buffer, size: number): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat(parts)
}

async function write(socket: Socket, how: Framing, body: Buffer): Promise<void> {
  const plain = [`content-length: ${body.length}`]
  const send = (lines: readonly string[], ...parts: (string | Buffer)[]) => {
    socket.write(headOf(lines))
    for (const part of parts) socket.write(part)
  }
  const encoded = (coding: string, bytes: Buffer, length = bytes.length) =>
    send([`content-length: ${length}`, `content-encoding: ${coding}`], bytes)
  const CHUNKED = ['transfer-encoding: chunked']
  switch (how) {
    case 'length':
      return send(plain, body)
    case 'chunks-of-1':
      return send(CHUNKED, chunked(body, 1), '0\r\n\r\n')
    case 'chunks-of-4093':
      return send(CHUNKED, chunked(body, 4_093), '0\r\n\r\n')
    case 'one-chunk':
      return send(CHUNKED, chunked(body, Number.POSITIVE_INFINITY), '0\r\n\r\n')
    case 'until-close':
      send(['connection: close'], body)
      return void socket.end()
    case 'slow':
      send(plain)
      for (let i = 0; i < 8; i++) {
        socket.write(body.subarray((i * body.length) / 8, ((i + 1) * body.length) / 8))
        await sleep(10)
      }
      return
    case 'gzip':
      return encoded('gzip', gzipSync(body))
    case 'deflate':
      return encoded('deflate', deflateSync(body))
    case 'br':
      return encoded('br', brotliCompressSync(body))
    case 'early':
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n')
      return send(plain, body)
    case 'continue':
      socket.write('HTTP/1.1 100 Continue\r\n\r\n')
      return send(plain, body)
    case 'trailers':
      return send([...CHUNKED, 'trailer: x-sum'], chunked(body, 4_093), '0\r\nx-sum: 1\r\n\r\n')
    case 'short-length':
      send([`content-length: ${Math.floor(body.length / 2)}`], body)
      return void socket.end()
    case 'cut':
      send([`content-length: ${body.length + 1}`], body)
      return void socket.end()
    case 'cut-chunks':
      send(CHUNKED, chunked(body, 4_093))
      return void socket.end()
    case 'cut-gzip': {
      const bytes = gzipSync(body)
      return encoded('gzip', bytes.subarray(0, -9))
    }
    case 'false-gzip':
      return encoded('gzip', body)
    case 'unknown-coding':
      return encoded('x-rot13', body)
    case 'bomb':
      bomb ??= gzipSync(Buffer.alloc(BOMB_BYTES, ' '))
      return encoded('gzip', bomb)
    case 'never': {
      send(CHUNKED)
      const piece = chunked(Buffer.alloc(65_536, ' '), 65_536)
      while (!socket.destroyed) {
        if (!socket.write(piece))
          await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), sleep(50)])
      }
      return
    }
    case 'drip':
      send(CHUNKED)
      for (; !socket.destroyed; await sleep(20)) socket.write('1\r\n \r\n')
      return
    case 'reset':
      return void socket.resetAndDestroy()
    case 'no-http':
      return void socket.end(body)
    case 'long-head':
      return send([`x-long: ${'x'.repeat(100_000)}`, ...plain], body)
    case '204':
      return void socket.write('HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\n\r\n')
    case '304':
      return void socket.write(headOf(plain, '304 Not Modified'))
  }
}
