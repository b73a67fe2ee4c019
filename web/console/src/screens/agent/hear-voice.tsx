import { useEffect, useRef, useState } from 'react'
import { request } from '../../data/api.ts'
import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'

const MAX_TEXT = 300
const SENTENCE = t('Hello, how can I help you?')

interface Sample {
  /** The voice that is heard now, and whether its sound is still asked for; undefined: none. */
  readonly now: { readonly voice: string; readonly isAsked: boolean } | undefined
  /** Says the agent's first message in a voice of its provider, before it is saved; what is heard stops. */
  hear(voice: string): void
  stop(): void
}

/** One voice at a time. */
export function useVoiceSample({ TTS_provider, language, first_message }: Agent): Sample {
  const [now, setNow] = useState<Sample['now']>()
  const asked = useRef<AbortController>(undefined)
  useEffect(() => () => asked.current?.abort(), [])
  const hear = async (voice: string) => {
    asked.current?.abort()
    const stop = new AbortController()
    asked.current = stop
    setNow({ voice, isAsked: true })
    try {
      const text =
        first_message
          .replaceAll(/\{\{[^}]*\}\}/g, '')
          .trim()
          .slice(0, MAX_TEXT) || SENTENCE
      const body = { TTS_provider, TTS_voice: voice, language, text }
      const answer = await request('/voices/sample', { method: 'POST', body, signal: stop.signal })
      await play(await answer.blob(), stop.signal, () => setNow({ voice, isAsked: false }))
    } catch (error) {
      if (!stop.signal.aborted) toast((error as Error).message, 'bad')
    } finally {
      if (asked.current === stop) setNow(undefined)
    }
  }
  return { now, hear: (voice) => void hear(voice), stop: () => asked.current?.abort() }
}

interface HearProps {
  sample: Sample
  voice: string
  /** Of the voice, where several stand beside each other. */
  name?: string
}

export function HearButton({ sample: { now, hear, stop }, voice, name }: HearProps) {
  const state = now?.voice === voice ? now : undefined
  const isHeard = state?.isAsked === false
  return (
    <Button
      aria-label={isHeard ? t('Stop') : name === undefined ? undefined : t('Hear {name}', { name })}
      busy={state?.isAsked === true}
      icon={isHeard ? 'pause' : 'play'}
      onClick={() => (isHeard ? stop() : hear(voice))}
      size="sm"
    >
      {name === undefined ? (isHeard ? t('Stop') : t('Hear it')) : undefined}
    </Button>
  )
}

/** The voice that is chosen. */
export function HearVoice({ agent }: { agent: Agent }) {
  return <HearButton sample={useVoiceSample(agent)} voice={agent.TTS_voice} />
}

/** Resolves when it was played, or when it is to stop. */
async function play(sound: Blob, signal: AbortSignal, begun: () => void): Promise<void> {
  const url = URL.createObjectURL(sound)
  const audio = new Audio(url)
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve())
      audio.addEventListener('ended', () => resolve())
      audio.addEventListener('error', () => reject(new Error(t('The browser can’t play it.'))))
      audio.play().then(begun, reject)
    })
  } finally {
    audio.pause()
    URL.revokeObjectURL(url)
  }
}
