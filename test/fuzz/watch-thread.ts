/**
 * Watches an installation from a thread of its own: how long /health takes, how late frames of the quiet tenant's call come. What
 * this thread's own loop was late meanwhile is the machine's, and is taken off.
 */

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import WebSocket from 'ws'

/** What was seen since it was last asked for. */
export interface Seen {
  /** Longest answer of /health less what this thread was late. */
  longestMs: number
  over50: number
  over100: number
  /** Longest run of answers over 100 ms, one after the other. */
  run: number
  /** No answer within HUNG_MS. */
  hung: number
  asked: number
  /** Longest time between two frames of the quiet tenant's call, less what this thread was late. */
  gapMs: number
  frames: number
  /** Sessions of the quiet tenant that ended before their agent had said everything. */
  cut: readonly string[]
}

const { url, tokenUrl, cookies } = workerData as { url: string; tokenUrl: string; cookies: string }
const PROBE_MS = 20
const HUNG_MS = 10_000
const CUT_KEPT = 20

const nothing = () => ({
  longestMs: 0,
  over50: 0,
  over100: 0,
  run: 0,
  hung: 0,
  asked: 0,
  gapMs: 0,
  frames: 0,
  cut: [] as string[],
})
let seen = nothing()

/** The moments at which this thread's loop was late, and by how much. */
let lateMs = 0
let expectedMs = performance.now() + PROBE_MS
setInterval(() => {
  const nowMs = performance.now()
  lateMs = Math.max(lateMs, nowMs - expectedMs)
  expectedMs = nowMs + PROBE_MS
}, PROBE_MS)

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
function ask(): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(`${url}/health`, { agent, timeout: HUNG_MS }, (response) => {
      response.resume().on('end', () => resolve(true))
    })
    asked.on('timeout', () => {
      asked.destroy()
      resolve(false)
    })
    asked.on('error', () => resolve(false))
    asked.end()
  })
}

async function probe(): Promise<void> {
  let over = 0
  for (;;) {
    lateMs = 0
    const beganMs = performance.now()
    const answered = await ask()
    const tookMs = Math.max(0, performance.now() - beganMs - Math.max(0, lateMs))
    seen.asked++
    if (!answered) seen.hung++
    seen.longestMs = Math.max(seen.longestMs, tookMs)
    if (tookMs > 50) seen.over50++
    over = tookMs > 100 ? over + 1 : 0
    if (over > 0) seen.over100++
    seen.run = Math.max(seen.run, over)
    await sleep(PROBE_MS)
  }
}

async function listen(): Promise<void> {
  for (;;) {
    const fault = await session().catch((error: Error) => `no token: ${error.message}`)
    if (fault?.startsWith('no token')) await sleep(1_000)
    if (fault !== undefined && seen.cut.length < CUT_KEPT) seen.cut.push(fault)
  }
}

async function session(): Promise<string | undefined> {
  const answer = await fetch(tokenUrl, { headers: { cookie: cookies } })
  const text = await answer.text()
  if (!answer.ok) return `no token: ${answer.status} ${text.slice(0, 200)}`
  return await one((JSON.parse(text) as { token: string }).token)
}

/** One session, until the agent has said its text. Resolves with what went wrong. */
function one(token: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/realtime?token=${token}`)
    let lastMs: number | undefined
    let lateBeforeMs = 0
    let done = false
    let reason = 'closed without a word'
    socket.on('message', (data, isBinary) => {
      const nowMs = performance.now()
      if (isBinary) {
        if (lastMs !== undefined) seen.gapMs = Math.max(seen.gapMs, nowMs - lastMs - lateBeforeMs)
        lastMs = nowMs
        lateBeforeMs = Math.max(0, nowMs - expectedMs)
        seen.frames++
        return
      }
      const message = JSON.parse(String(data)) as {
        type: string
        id?: number
        state?: string
        reason?: string
        code?: string
      }
      if (message.type === 'audio.mark') socket.send(JSON.stringify({ type: 'audio.played', id: message.id }))
      if (message.type === 'session.ended') reason = `ended: ${message.reason}`
      if (message.type === 'error') reason = `error: ${message.code}`
      if (message.type === 'agent.state' && message.state === 'listening' && lastMs !== undefined) {
        done = true
        socket.close()
      }
    })
    socket.on('close', (code) => resolve(done ? undefined : `${reason} (${code})`))
    socket.on('error', (error) => {
      reason = error.message
    })
  })
}

parentPort?.on('message', () => {
  parentPort?.postMessage(seen satisfies Seen)
  seen = nothing()
})
void Promise.all([probe(), listen()])
