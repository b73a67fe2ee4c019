import { setTimeout as sleep } from 'node:timers/promises'
import type { APIConnectOptions } from '@livekit/agents'
import { APIError, initializeLogger } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import type { Test } from 'tap'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { closeInstance } from '../../runtime/plugin/host.ts'

/** What the conformance suites of all kinds share. */

initializeLogger({ pretty: false, level: 'silent' })

/** One attempt: a suite wants to see the first failure, not what retries make of it. */
export const ONE_ATTEMPT: APIConnectOptions = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 60_000 }

/** An instance whose provider fails, or why that can't be arranged. */
export type Failing<T> = (() => Promise<T>) | { skip: string }

export interface Suite<T> {
  /** Makes an instance as the plugin host does. The suite closes it. */
  make: () => Promise<T>
  /** Makes one that can't reach its provider, such as with a base URL nobody listens on. */
  makeFailing: Failing<T>
  /** Longest one exchange may take, in milliseconds; default 120,000. */
  limitMs?: number
}

const DEFAULT_LIMIT_MS = 120_000
const RELEASE_LIMIT_MS = 60_000
/** What a closed stream must not leave behind. Timers and pipes of the test runner come and go: they don't count. */
const RESOURCES = ['ProcessWrap', 'TCPSocketWrap', 'TLSWrap', 'UDPWrap', 'Worker']

/** Runs a check with an instance of its own, closed afterwards on every path. */
export async function withInstance<T extends object>(
  make: () => Promise<T>,
  use: (instance: T) => Promise<void>,
): Promise<void> {
  const instance = await make()
  try {
    await use(instance)
  } finally {
    await closeInstance(instance)
  }
}

/** Everything the stream yields, or an error when it doesn't end in time. */
export async function collect<T>(stream: AsyncIterable<T>, limitMs = DEFAULT_LIMIT_MS): Promise<T[]> {
  const items: T[] = []
  const read = async (): Promise<void> => {
    for await (const item of stream) items.push(item)
  }
  await inTime(read(), limitMs, `the stream to end (${items.length} items came)`)
  return items
}

/** The promise's value, or an error that says what was waited for. */
export async function inTime<T>(promise: Promise<T>, limitMs: number, what: string): Promise<T> {
  const timer = new AbortController()
  const late = sleep(limitMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`Waited ${limitMs} ms for ${what}`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.abort()
  }
}

function held(): string[] {
  return process.getActiveResourcesInfo().filter((name) => RESOURCES.includes(name))
}

/** Runs `use` and checks that the connections, programs and threads it opened are gone soon after. */
export async function releasesAll(t: Test, use: () => Promise<void>): Promise<void> {
  const before = held().length
  await use()
  const deadlineMs = performance.now() + RELEASE_LIMIT_MS
  while (held().length > before && performance.now() < deadlineMs) await sleep(20)
  t.ok(held().length <= before, `nothing is left open (${held().join(', ') || 'none'})`)
}

interface ErrorSource {
  on(event: 'error', listener: (error: { error: Error; recoverable: boolean }) => void): unknown
}

/** What the instance reports as errors, in order. */
export function errorsOf(instance: ErrorSource): { error: Error; recoverable: boolean }[] {
  const errors: { error: Error; recoverable: boolean }[] = []
  instance.on('error', (error) => errors.push(error))
  return errors
}

/** A failed exchange is reported once, as an error that says whether trying again can help. */
export function checkClassified(t: Test, errors: readonly { error: Error; recoverable: boolean }[]): void {
  t.equal(errors.length, 1, 'it is reported once')
  const [first] = errors
  const classified = first?.error instanceof APIError || first?.error instanceof PatchbayError
  t.ok(classified, `as an APIError or a PatchbayError, not ${first?.error.name}: ${first?.error.message}`)
  t.equal(first?.recoverable, false, 'the last attempt is not recoverable')
  t.ok(first?.error.message, 'it says what happened')
}

/** Checks that an instance says who it is, for call logs and metrics. */
export function checkNamed(
  t: Test,
  instance: { label: string | (() => string); provider: string; model: string },
): void {
  const label = typeof instance.label === 'function' ? instance.label() : instance.label
  for (const [what, value] of Object.entries({ label, provider: instance.provider, model: instance.model })) {
    t.ok(value !== '' && value !== 'unknown', `${what} is "${value}"`)
  }
}

/** `durationMs` of silence in 20 ms frames. */
export function silence(durationMs: number, sampleRateHz: number): AudioFrame[] {
  const samples = Math.round(sampleRateHz / 50)
  return Array.from({ length: Math.round(durationMs / 20) }, () => {
    return new AudioFrame(new Int16Array(samples), sampleRateHz, 1, samples)
  })
}

/** Length of frames in seconds. */
export function secondsOf(frames: readonly AudioFrame[]): number {
  return frames.reduce((sum, frame) => sum + frame.samplesPerChannel / frame.sampleRate, 0)
}

export { DEFAULT_LIMIT_MS }
