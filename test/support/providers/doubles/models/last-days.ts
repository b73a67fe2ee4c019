/**
 * The days from which the services refuse a model, as their SDKs announce them: openai 7.59.0 (2026-11-17), @anthropic-ai/sdk
 * 1.14.0 (2026-11-24); of @google/genai 3.3.0 the models it lists no more.
 */
const LAST_DAYS: Readonly<Record<string, string>> = {
  'gpt-5.1-chat-latest': '2026-07-23',
  'gpt-5.2-chat-latest': '2026-08-10',
  'gpt-4.1-nano': '2026-10-23',
  'gpt-5': '2026-12-11',
  'gpt-5-mini': '2026-12-11',
  'gpt-5-nano': '2026-12-11',
  'gpt-4.1': '2027-01-14',
  'gpt-4.1-mini': '2027-01-14',
  'gpt-4o': '2027-01-14',
  'gpt-4o-mini': '2027-01-14',
  'gpt-5.1': '2027-04-01',
  'gpt-5.4-nano': '2027-04-01',
  'tts-1': '2027-01-06',
  'tts-1-hd': '2027-01-06',
  'gpt-4o-mini-tts': '2027-01-06',
  'gpt-realtime': '2027-01-20',
  'gpt-realtime-mini': '2027-01-20',
  'whisper-1': '2027-02-26',
  'gpt-4o-transcribe': '2027-02-26',
  'gpt-4o-mini-transcribe': '2027-02-26',
  'claude-sonnet-4-5': '2026-11-30',
  'claude-opus-4-5': '2027-01-22',
  'gemini-2.5-flash-preview-tts': '2026-11-17',
  'gemini-2.5-pro-preview-tts': '2026-11-17',
}

/** The day the doubles live in, unless a test chooses another: none of their answers may depend on when a test runs. */
export const DOUBLES_TODAY = '2026-11-26'

export function isSwitchedOff(model: string, today: string = DOUBLES_TODAY): boolean {
  return (LAST_DAYS[model] ?? '9999') <= today
}
