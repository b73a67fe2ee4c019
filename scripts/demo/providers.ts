import { DOUBLES, type DoubleName } from '../../test/support/providers/doubles/start.ts'

/** The providers one demo call runs over. */
export interface Combination {
  LLM_provider: string
  STT_provider: string
  TTS_provider: string
}

const PROVIDES: Readonly<Record<DoubleName, readonly ('LLM' | 'STT' | 'TTS')[]>> = {
  openai: ['LLM', 'STT', 'TTS'],
  deepgram: ['STT', 'TTS'],
  cartesia: ['STT', 'TTS'],
  anthropic: ['LLM'],
  elevenlabs: ['STT', 'TTS'],
  assemblyai: ['STT'],
  google: ['LLM', 'TTS'],
  azure: ['STT', 'TTS'],
}
const OFFLINE: Combination = { LLM_provider: 'offline', STT_provider: 'sim', TTS_provider: 'offline' }

/** Every combination of these providers; what none of them provides is done offline. Throws on an unknown name. */
export function combinationsOf(list: string): Combination[] {
  const names = list.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !DOUBLES.includes(name as DoubleName))
  if (unknown !== undefined) throw new Error(`--providers knows ${DOUBLES.join(', ')}, not "${unknown}"`)
  const able = (kind: 'LLM' | 'STT' | 'TTS') => {
    const found = DOUBLES.filter((name) => names.includes(name) && PROVIDES[name].includes(kind))
    return found.length > 0 ? found : [OFFLINE[`${kind}_provider`]]
  }
  return able('LLM').flatMap((LLM_provider) =>
    able('STT').flatMap((STT_provider) =>
      able('TTS').map((TTS_provider) => ({ LLM_provider, STT_provider, TTS_provider })),
    ),
  )
}
