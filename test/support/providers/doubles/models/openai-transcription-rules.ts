/** What the Realtime API takes as `transcription` of a session's input, and what it refuses: npm openai 7.59.0, resources/realtime/realtime.d.ts. */
export interface Transcription {
  model?: string
  language?: string
  languages?: string[]
  keywords?: string[]
  prompt?: string
}

const MODELS = [
  'whisper-1',
  'gpt-transcribe',
  'gpt-live-transcribe',
  'gpt-4o-transcribe',
  'gpt-4o-mini-transcribe',
  'gpt-4o-transcribe-diarize',
]
const FIELDS = ['model', 'language', 'languages', 'keywords', 'prompt']

export function faultOfTranscription(
  transcription: Transcription,
  turnDetection: object | null | undefined,
): [code: string, message: string] | undefined {
  const stranger = Object.keys(transcription).find((field) => !FIELDS.includes(field))
  if (stranger !== undefined) {
    return ['unknown_parameter', `Unknown parameter: 'session.audio.input.transcription.${stranger}'.`]
  }
  const { model, language, languages, keywords } = transcription
  if ((languages ?? keywords) !== undefined && !/^gpt-(live-)?transcribe/.test(model ?? '')) {
    return ['unsupported_parameter', `'languages' and 'keywords' are not supported with the model '${model}'.`]
  }
  if (model === 'gpt-live-transcribe' && turnDetection !== null) {
    return ['invalid_value', "'turn_detection' must be null with the model 'gpt-live-transcribe'."]
  }
  if (!MODELS.includes(model ?? '')) {
    return ['invalid_value', `Invalid value: '${model}'. Supported values are: '${MODELS.join("', '")}'.`]
  }
  if (language !== undefined && !/^[a-z]{2,3}$/.test(language)) {
    return [
      'invalid_language_format',
      `Invalid language '${language}'. Language parameter must be specified in ISO-639-1 format.`,
    ]
  }
  return undefined
}
