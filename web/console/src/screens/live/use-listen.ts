import { useCallback, useEffect, useReducer, useRef } from 'react'
import { LevelTrace } from '../../data/level-trace.ts'
import { ListenCall, type Order } from '../../data/listen-call.ts'
import { t } from '../../language/t.ts'
import { toast } from '../../ui/toast.tsx'

interface Listening {
  readonly state: 'away' | 'joining' | 'listening'
  /** The caller talks with this supervisor. */
  readonly hasCall: boolean
  readonly isMuted: boolean
  /** What was asked and is not answered yet. */
  readonly asked: Order | undefined
  readonly fault: string | undefined
}

const AWAY: Listening = { state: 'away', hasCall: false, isMuted: false, asked: undefined, fault: undefined }

const DONE: Readonly<Partial<Record<Order, string>>> = {
  whisper: t('The agent was told; the caller heard nothing'),
  say: t('The agent says it'),
  take_over: t('You have the call: the caller hears you'),
  give_back: t('The agent has the call again'),
  transfer: t('The call is transferred'),
}

/** At a running call: hearing both sides, and what can be done to it. */
export function useListen(callId: string) {
  const [listening, set] = useReducer(
    (before: Listening, change: Partial<Listening>): Listening => ({ ...before, ...change }),
    AWAY,
  )
  const call = useRef<ListenCall>(undefined)
  const levels = useRef(new LevelTrace()).current
  useEffect(() => () => call.current?.close(), [])

  const join = useCallback(async () => {
    set({ ...AWAY, state: 'joining' })
    levels.clear()
    try {
      call.current = await ListenCall.open(callId, {
        listening: () => set({ state: 'listening' }),
        level: (side, level) => levels.add(side, level),
        done(order) {
          const said = DONE[order]
          if (said) toast(said)
          set({
            asked: undefined,
            ...(order === 'take_over' ? { hasCall: true, isMuted: false } : {}),
            ...(order === 'give_back' ? { hasCall: false } : {}),
          })
        },
        refused: (code, sentence) =>
          set({
            asked: undefined,
            fault: code === 'taken' ? t('Somebody else has the call. They give it back, or you wait.') : sentence,
          }),
        over: (reason) =>
          set({
            ...AWAY,
            fault: reason === undefined ? t('The connection to the call is lost. Listen again.') : undefined,
          }),
      })
    } catch (error) {
      set({ ...AWAY, fault: (error as Error).message })
    }
  }, [callId, levels])

  const order: ListenCall['order'] = (message) => {
    set({ asked: message.type, fault: undefined })
    call.current?.order(message)
  }
  return {
    listening,
    levels,
    join,
    order,
    takeOver() {
      set({ asked: 'take_over', fault: undefined })
      call.current?.takeOver().catch((error: Error) => set({ asked: undefined, fault: error.message }))
    },
    toggleMute() {
      call.current?.mute(!listening.isMuted)
      set({ isMuted: !listening.isMuted })
    },
    leave() {
      call.current?.close()
      set(AWAY)
    },
  }
}
