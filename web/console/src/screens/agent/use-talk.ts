import { useCallback, useEffect, useReducer, useRef } from 'react'
import {
  type AgentState,
  CallError,
  type CallErrorCode,
  type CallState,
  PatchbayCall,
  type Session,
  type Transcript,
} from '../../../../../packages/web/src/mod.ts'
import workletUrl from '../../../../../packages/web/src/worklet.ts?worker&url'
import { api } from '../../data/api.ts'
import { LevelTrace } from '../../data/level-trace.ts'

export interface TalkLine extends Pick<Transcript, 'role' | 'text' | 'final' | 'startMs'> {
  /** The caller cut in while it was said. */
  readonly interrupted?: true
}

export interface Talking {
  readonly state: CallState
  readonly agent: AgentState
  readonly lines: readonly TalkLine[]
  readonly callId: string | undefined
  readonly fault: { readonly code: CallErrorCode; readonly message: string } | undefined
  readonly endReason: string | undefined
  /** Whether the microphone is part of it. */
  readonly isSpoken: boolean
  readonly isMuted: boolean
  readonly isRecorded: boolean
  /** The browser wants a click before it plays anything. */
  readonly isSilent: boolean
}

const IDLE: Talking = {
  state: 'idle',
  agent: 'listening',
  lines: [],
  callId: undefined,
  fault: undefined,
  endReason: undefined,
  isSpoken: true,
  isMuted: false,
  isRecorded: false,
  isSilent: false,
}

type Change = Partial<Talking> | ((before: Talking) => Partial<Talking>)

/** A conversation with an agent, from the click to the end. */
export function useTalk(agentId: string) {
  const [talking, set] = useReducer(
    (before: Talking, change: Change): Talking => ({
      ...before,
      ...(typeof change === 'function' ? change(before) : change),
    }),
    IDLE,
  )
  const current = useRef<PatchbayCall>(undefined)
  const levels = useRef(new LevelTrace()).current
  useEffect(() => () => current.current?.end(), [])

  /** By voice and typing, or by typing alone; recorded where that is asked for. */
  const start = useCallback(
    async (microphone: boolean, record: boolean) => {
      current.current?.end()
      levels.clear()
      set({ ...IDLE, state: 'connecting', isSpoken: microphone })
      const call = new PatchbayCall({
        microphone,
        workletUrl,
        session: async () => {
          const session = await sessionWith(agentId, record)
          set({ callId: session.call_log_id, isRecorded: session.recorded })
          return session
        },
      })
      current.current = call
      // What a call before it still tells is of no use to anybody.
      const tell = (change: Change) => current.current === call && set(change)
      call.on('state', (state) => tell({ state }))
      call.on('agent', (agent) => tell({ agent }))
      call.on('transcript', (line) => tell(({ lines }) => ({ lines: withLine(lines, line) })))
      call.on('interrupted', () => tell(({ lines }) => ({ lines: withCut(lines) })))
      call.on('level', ({ side, level }) => levels.add(side, level))
      call.on('playbackblocked', (isSilent) => tell({ isSilent }))
      call.on('error', ({ code, message }) => tell({ fault: { code, message } }))
      call.on('ended', ({ reason }) => tell({ endReason: reason }))
      await call.start().catch(({ code, message }: CallError) => {
        tell({ fault: { code, message }, ...(call.callLogId === undefined ? { state: 'idle' } : {}) })
      })
    },
    [agentId, levels],
  )

  return {
    talking,
    levels,
    start,
    say(text: string) {
      current.current?.say(text)
      set(({ lines }) => ({ lines: [...lines, { role: 'user', text, final: true, startMs: 0 }] }))
    },
    toggleMute() {
      const call = current.current
      if (call === undefined) return
      if (call.isMuted) call.unmute()
      else call.mute()
      set({ isMuted: call.isMuted })
    },
    useMicrophone: (deviceId: string) => current.current?.setMicrophone(deviceId),
    useSpeaker: (deviceId: string) => current.current?.setSpeaker(deviceId),
    hear: () => void current.current?.resumePlayback(),
    end: () => current.current?.end(),
  }
}

type TalkSession = Session & { call_log_id: string; recorded: boolean }

async function sessionWith(agentId: string, record: boolean): Promise<TalkSession> {
  try {
    const session = await api<TalkSession>('/calls/generate-token', {
      query: { agent_id: agentId, record },
    })
    // The page's own host: it serves the sessions, under whatever name it was reached.
    const { pathname, search } = new URL(session.realtime_url)
    return { ...session, realtime_url: `${location.origin.replace(/^http/, 'ws')}${pathname}${search}` }
  } catch (error) {
    throw new CallError('session_refused', (error as Error).message, error)
  }
}

/** A line that is not final gives way to the next of its speaker. */
function withLine(lines: readonly TalkLine[], line: TalkLine): readonly TalkLine[] {
  const at = lines.findLastIndex(({ role, final }) => role === line.role && !final)
  return at === -1 ? [...lines, line] : lines.with(at, { ...lines[at], ...line })
}

/** The agent fell silent: what it was saying is over. */
function withCut(lines: readonly TalkLine[]): readonly TalkLine[] {
  const at = lines.findLastIndex(({ role }) => role === 'assistant')
  return at === -1 || lines[at]!.final ? lines : lines.with(at, { ...lines[at]!, interrupted: true })
}
