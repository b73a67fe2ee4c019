import { useEffect, useRef, useState } from 'react'
import { request } from '../../data/api.ts'
import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'

const MAX_TEXT = 300
const SENTENCE = t('Hello, how can I help you?')

/** Says the agent's first message in the voice that is chosen, before it is saved. */
export function HearVoice({ agent }: { agent: Agent }) {
  const { TTS_provider, TTS_voice, language, first_message } = agent
  const [state, setState] = useState<'silent' | 'asked' | 'speaking'>('silent')
  const asked = useRef<AbortController>(undefined)
  useEffect(() => () => asked.current?.abort(), [])
  const hear = async () => {
    const stop = new AbortController()
    asked.current = stop
    setState('asked')
    try {
      const text =
        first_message
          .replaceAll(/\{\{[^}]*\}\}/g, '')
          .trim()
          .slice(0, MAX_TEXT) || SENTENCE
      const body = { TTS_provider, TTS_voice, language, text }
      const answer = await request('/voices/sample', { method: 'POST', body, signal: stop.signal })
      await play(await answer.blob(), stop.signal, () => setState('speaking'))
    } catch (error) {
      if (!stop.signal.aborted) toast((error as Error).message, 'bad')
    } finally {
      if (asked.current === stop) setState('silent')
    }
  }
  return (
    <Button
      busy={state === 'asked'}
      icon={state === 'speaking' ? 'pause' : 'play'}
      onClick={() => (state === 'speaking' ? asked.current?.abort() : void hear())}
      size="sm"
    >
      {state === 'speaking' ? t('Stop') : t('Hear it')}
    </Button>
  )
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
