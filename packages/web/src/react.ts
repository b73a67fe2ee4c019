import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { CallError } from './call-error.ts'
import { type CallOptions, type CallState, PatchbayCall, type Transcript } from './patchbay-call.ts'
import type { AgentState } from './protocol.ts'

/** A call as a component shows it. */
export interface CallView {
  state: CallState
  agent: AgentState
  /** Final words of both sides, and the last ones that may still change. */
  transcript: readonly Transcript[]
  error: CallError | undefined
  endReason: string | undefined
}

const IDLE: CallView = { state: 'idle', agent: 'listening', transcript: [], error: undefined, endReason: undefined }

/** Words that may change are replaced by the next ones of their side. */
export function withWords(transcript: readonly Transcript[], next: Transcript): readonly Transcript[] {
  const open = transcript.findLastIndex(({ role, final }) => role === next.role && !final)
  return open < 0 ? [...transcript, next] : [...transcript.slice(0, open), next, ...transcript.slice(open + 1)]
}

/**
 * A call for a component: `start()` in a click begins one, the component's end ends it. `call` is there from the first start on,
 * for `mute()`, `say()` and the rest.
 */
export function useCall(options: CallOptions): CallView & {
  call: PatchbayCall | undefined
  start(): Promise<void>
  end(): void
} {
  const latest = useRef(options)
  latest.current = options
  const [call, setCall] = useState<PatchbayCall>()
  const view = useRef(IDLE)
  const listeners = useRef(new Set<() => void>())
  const change = useCallback((changes: Partial<CallView>) => {
    view.current = { ...view.current, ...changes }
    for (const listener of listeners.current) listener()
  }, [])
  const subscribe = useCallback((listener: () => void) => {
    listeners.current.add(listener)
    return () => void listeners.current.delete(listener)
  }, [])
  useEffect(() => () => call?.end(), [call])
  const start = useCallback(async () => {
    const next = new PatchbayCall(latest.current)
    change(IDLE)
    next.on('state', (state) => change({ state }))
    next.on('agent', (agent) => change({ agent }))
    next.on('transcript', (words) => change({ transcript: withWords(view.current.transcript, words) }))
    next.on('error', (error) => change({ error }))
    next.on('ended', ({ reason }) => change({ endReason: reason }))
    setCall(next)
    await next.start().catch((error: CallError) => change({ error }))
  }, [change])
  const shown = useSyncExternalStore(
    subscribe,
    () => view.current,
    () => IDLE,
  )
  return { ...shown, call, start, end: useCallback(() => call?.end(), [call]) }
}
