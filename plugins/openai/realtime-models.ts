/** Models of the Realtime API, whatever server they are at: they hear and speak over its socket. */
export function isOpenAIRealtimeModel(model: string): boolean {
  return model.startsWith('gpt-realtime')
}

/** From gpt-realtime-2 on they can think before they speak, and a caller waits: the least they take is asked for. */
export function reasoningOf(model: string): { reasoning?: { effort: 'minimal' } } {
  return /^gpt-realtime-[2-9]/.test(model) ? { reasoning: { effort: 'minimal' } } : {}
}

/** Voices of the models of old that the Realtime API has not, and the nearest that it has. */
const NEAREST_VOICES: Readonly<Record<string, string>> = { fable: 'ballad', nova: 'coral', onyx: 'ash' }

/** The voice by the name the Realtime API knows. */
export function realtimeVoice(voice: string): string {
  return NEAREST_VOICES[voice] ?? voice
}
