/** What Gemini's Live API takes and what it refuses: npm @google/genai 3.3.0 (2026-11-12), dist/genai.d.ts; ai.google.dev/gemini-api/docs/models/gemini-3.8-live. */
export const LIVE_MODELS = ['gemini-3.8-live']
export const IN_RATE_HZ = 16_000
export const OUT_RATE_HZ = 24_000
const VOICES = ['Achernar', 'Aoede', 'Charon', 'Fenrir', 'Kore', 'Leda', 'Orus', 'Puck', 'Zephyr']

export interface Turn {
  role?: string
  parts?: { text?: string }[]
}
export interface Declaration {
  name: string
  description?: string
  parametersJsonSchema?: { type?: string }
  behavior?: string
}
export interface Setup {
  model?: string
  generationConfig?: {
    responseModalities?: string[]
    speechConfig?: { voiceConfig?: { prebuiltVoiceConfig?: { voiceName?: string } } }
    thinkingConfig?: object
  }
  systemInstruction?: Turn
  tools?: { functionDeclarations?: Declaration[] }[]
  realtimeInputConfig?: { automaticActivityDetection?: { disabled?: boolean } }
  inputAudioTranscription?: { languageCodes?: string[]; customVocabulary?: string[] }
  outputAudioTranscription?: object
  proactivity?: { proactiveAudio?: boolean }
}
export interface ClientMessage {
  setup?: Setup
  clientContent?: { turns?: Turn[]; turnComplete?: boolean }
  realtimeInput?: {
    audio?: { data?: string; mimeType?: string }
    activityStart?: object
    activityEnd?: object
    text?: string
  }
  toolResponse?: { functionResponses?: { id?: string; name?: string; response?: { output?: string } }[] }
  contextUpdate?: { systemInstruction?: Turn; tools?: { tools?: Setup['tools'] } }
}
/** The code and the words the connection is closed with: it has no errors that a session survives. */
export type Closing = [code: number, reason: string]

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  setup: [
    ...['model', 'generationConfig', 'systemInstruction', 'tools', 'realtimeInputConfig', 'sessionResumption'],
    ...['contextWindowCompression', 'inputAudioTranscription', 'outputAudioTranscription', 'proactivity'],
    ...['historyConfig', 'avatarConfig', 'safetySettings', 'labels'],
  ],
  clientContent: ['turns', 'turnComplete'],
  realtimeInput: ['audio', 'audioStreamEnd', 'video', 'text', 'activityStart', 'activityEnd'],
  toolResponse: ['functionResponses'],
  contextUpdate: ['systemInstruction', 'tools'],
}

const TRANSCRIPTION_FIELDS = [
  ...['languageCodes', 'languageAuto', 'languageHints', 'customVocabulary', 'adaptationPhrases'],
  ...['wordTimestamp', 'diarization', 'mode', 'sourceText'],
]

const invalid = (reason = 'Request contains an invalid argument.'): Closing => [1007, reason]

/** What is wrong with a message by itself. */
export function faultOfMessage(message: ClientMessage): Closing | undefined {
  const kinds = Object.keys(message)
  const [kind = ''] = kinds
  const known = FIELDS[kind]
  if (kinds.length !== 1 || known === undefined) {
    return invalid(`Invalid JSON payload received. Unknown name "${kinds.at(-1)}": Cannot find field.`)
  }
  const fields = Object.keys((message as Record<string, object>)[kind] ?? {})
  const stranger = fields.find((field) => !known.includes(field))
  if (stranger !== undefined) {
    return invalid(`Invalid JSON payload received. Unknown name "${stranger}" at '${kind}': Cannot find field.`)
  }
  const { clientContent, realtimeInput, contextUpdate } = message
  if (clientContent?.turns?.some(isWrongTurn)) return invalid()
  const mimeType = realtimeInput?.audio?.mimeType
  if (realtimeInput?.audio !== undefined && mimeType !== `audio/pcm;rate=${IN_RATE_HZ}`) return invalid()
  return contextUpdate === undefined ? undefined : faultOfTools(contextUpdate.tools?.tools)
}

export function faultOfSetup(setup: Setup): Closing | undefined {
  const { model = '', generationConfig = {}, realtimeInputConfig, proactivity, tools } = setup
  if (!LIVE_MODELS.some((name) => model === `models/${name}`)) {
    return [1008, `${model} is not found for API version v1beta, or is not supported for bidiGenerateContent.`]
  }
  const { responseModalities, thinkingConfig, speechConfig } = generationConfig
  if (thinkingConfig !== undefined) return invalid('thinking_level is not supported by this model.')
  if (responseModalities?.join() !== 'AUDIO') return invalid()
  if (proactivity?.proactiveAudio === false) return invalid()
  const strange = Object.keys(setup.inputAudioTranscription ?? {}).find((name) => !TRANSCRIPTION_FIELDS.includes(name))
  if (strange !== undefined) {
    return invalid(`Invalid JSON payload received. Unknown name "${strange}" at 'setup.input_audio_transcription'.`)
  }
  const voice = speechConfig?.voiceConfig?.prebuiltVoiceConfig?.voiceName
  if (voice !== undefined && !VOICES.includes(voice)) return invalid()
  if (realtimeInputConfig?.automaticActivityDetection?.disabled !== true) {
    return invalid('The double detects no turns: automaticActivityDetection has to be disabled.')
  }
  return faultOfTools(tools)
}

function faultOfTools(tools: Setup['tools'] = []): Closing | undefined {
  const declared = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
  if (tools.some(({ functionDeclarations = [] }) => functionDeclarations.length === 0)) return invalid()
  const wrong = declared.find(({ parametersJsonSchema, behavior = 'NON_BLOCKING' }) => {
    return parametersJsonSchema?.type !== 'object' || !/^(NON_)?BLOCKING$/.test(behavior)
  })
  return wrong && invalid()
}

function isWrongTurn({ role, parts = [] }: Turn): boolean {
  return (role !== 'user' && role !== 'model') || parts.length === 0 || parts.some(({ text }) => !text)
}
