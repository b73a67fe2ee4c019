/**
 * Simulated providers over real sockets, in a process of their own: speech to text (WebSocket, scripted in audio
 * time), a language model (server-sent events) and text to speech (WebSocket). Latencies come with each connection.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { SCRIPTED_RATE_HZ, type ScriptedLine, ScriptedWords } from './scripted-words.ts'

const REPLY_WORDS = 'Well, we are open from nine to five every day of the week. '.split(/(?<= )/)
const TTS_CHUNK_MS = 100
const TTS_MS_PER_CHARACTER = 55

const server = createServer((request, response) => void answer(new URL(request.url ?? '/', 'http://x'), response))
const sockets = new WebSocketServer({ server })

async function answer(url: URL, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const delayMs = Number(url.searchParams.get('ttft'))
  if (delayMs > 0) await sleep(delayMs)
  for (const word of REPLY_WORDS) {
    if (response.destroyed) return
    response.write(`data: ${JSON.stringify({ word })}\n\n`)
  }
  response.end()
}

sockets.on('connection', (socket, request) => {
  const url = new URL(request.url ?? '/', 'http://x')
  socket.on('error', () => {})
  if (url.pathname === '/stt') recognise(socket, url)
  else speak(socket, url)
})

/** Words come so long after the sound that decides them. */
function recognise(socket: WebSocket, url: URL): void {
  const words = new ScriptedWords(JSON.parse(url.searchParams.get('script') ?? '[]') as ScriptedLine[])
  const delayMs = Number(url.searchParams.get('delay'))
  socket.on('message', (data: Buffer) => {
    const samples = new Int16Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength))
    for (const said of words.push(samples)) setTimeout(() => socket.send(JSON.stringify(said)), delayMs)
  })
}

/** Speaks as a tone: its first sound after the latency, then five times as fast as it plays. */
function speak(socket: WebSocket, url: URL): void {
  const delayMs = Number(url.searchParams.get('ttfb'))
  let phase = 0
  let started: Promise<unknown> | undefined
  let queue = Promise.resolve()
  socket.on('message', (data: Buffer) => {
    const { text, end } = JSON.parse(String(data)) as { text?: string; end?: boolean }
    started ??= delayMs > 0 ? sleep(delayMs) : Promise.resolve()
    queue = queue.then(async () => {
      await started
      let leftMs = (text?.length ?? 0) * TTS_MS_PER_CHARACTER
      while (leftMs > 0 && socket.readyState === socket.OPEN) {
        const ms = Math.min(leftMs, TTS_CHUNK_MS)
        leftMs -= ms
        const tone = Int16Array.from({ length: (ms * SCRIPTED_RATE_HZ) / 1000 }, () => {
          phase += 0.2
          return Math.round(5000 * Math.sin(phase))
        })
        socket.send(Buffer.from(tone.buffer))
        await sleep(ms / 5)
      }
      if (end === true) socket.send('end')
    })
  })
}

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit())
