import { useCallback, useEffect, useReducer, useRef } from 'react'
import { api } from '../../data/api.ts'
import { type AgentState, TalkCall, type TalkLine, type TalkState } from '../../data/talk-call.ts'

export interface Talking {
  readonly state: TalkState | 'idle'
  readonly agent: AgentState
  readonly lines: readonly TalkLine[]
  readonly callId: string | undefined
  readonly fault: string | undefined
  readonly endReason: string | undefined
}

const IDLE: Talking = {
  state: 'idle',
  agent: 'listening',
  lines: [],
  callId: undefined,
  fault: undefined,
  endReason: undefined,
}

/** A conversation with an agent, from the click to the end. */
export function useTalk(agentId: string) {
  const [talking, set] = useReducer(
    (before: Talking, change: Partial<Talking> | ((before: Talking) => Partial<Talking>)) => {
      return { ...before, ...(typeof change === 'function' ? change(before) : change) }
    },
    IDLE,
  )
  const call = useRef<TalkCall>(undefined)
  const level = useRef(0)
  useEffect(() => () => call.current?.end(), [])

  const start = useCallback(async () => {
    set({ ...IDLE, state: 'connecting' })
    try {
      const session = await api<{ realtime_url: string; call_log_id: string }>('/calls/generate-token', {
        query: { agent_id: agentId },
      })
      // The page's own host: it serves the sessions, under whatever name it was reached.
      const { pathname, search } = new URL(session.realtime_url)
      const url = `${location.origin.replace(/^http/, 'ws')}${pathname}${search}`
      set({ callId: session.call_log_id })
      call.current = new TalkCall(url, {
        state: (state) => set({ state }),
        agent: (agent) => set({ agent }),
        line: (line) => set(({ lines }) => ({ lines: withLine(lines, line) })),
        fault: (fault) => set({ fault }),
        ended: (endReason) => set({ endReason }),
        level: (loudness) => {
          level.current = loudness
        },
      })
    } catch (error) {
      set({ state: 'idle', fault: (error as Error).message })
    }
  }, [agentId])

  const say = (text: string) => {
    call.current?.say(text)
    set(({ lines }) => ({ lines: [...lines, { role: 'user', text, final: true, startMs: 0 }] }))
  }
  const end = () => call.current?.end()
  return { talking, start, say, end, level }
}

/** A line that is not final gives way to the next of its speaker. */
function withLine(lines: readonly TalkLine[], line: TalkLine): readonly TalkLine[] {
  const at = lines.findLastIndex(({ role, final }) => role === line.role && !final)
  return at === -1 ? [...lines, line] : lines.with(at, line)
}
