import { Buffer } from 'node:buffer'
import type {
  Realtime,
  RealtimeClientEvent,
  RealtimeConfig,
  RealtimeFault,
  RealtimeItem,
  RealtimeServerEvent,
  RealtimeSession,
  RealtimeUsage,
} from '../../packages/plugin/realtime.ts'

const INPUT_RATE_HZ = 16_000
const OUTPUT_RATE_HZ = 24_000
/** Google ends a connection after about ten minutes. */
const SESSION_S = 600

interface LiveChoice {
  model?: string
  voice?: string
  settings: Readonly<Record<string, unknown>>
}

interface LiveMessage {
  setupComplete?: object
  serverContent?: {
    modelTurn?: { parts?: { inlineData?: { data?: string }; thought?: boolean }[] }
    inputTranscription?: { text?: string; finished?: boolean }
    outputTranscription?: { text?: string }
    generationComplete?: boolean
    turnComplete?: boolean
    interrupted?: boolean
    turnCompleteReason?: string
  }
  toolCall?: { functionCalls?: { id?: string; name?: string; args?: object }[] }
  toolCallCancellation?: { ids?: string[] }
  usageMetadata?: LiveUsage
  goAway?: object
}
interface LiveUsage {
  promptTokenCount?: unknown
  toolUsePromptTokenCount?: unknown
  responseTokenCount?: unknown
  thoughtsTokenCount?: unknown
  cachedContentTokenCount?: unknown
  promptTokensDetails?: TokenPart[]
  responseTokensDetails?: TokenPart[]
  cacheTokensDetails?: TokenPart[]
}
/** An answer; whole once all of its sound came. */
interface Generating {
  readonly id: string
  readonly itemId: string
  isWhole: boolean
}
interface TokenPart {
  modality?: string
  tokenCount?: unknown
}

/**
 * Gemini's Live API (ai.google.dev/api/live; npm @google/genai 3.3.0, 2026-11-12: LiveClientMessage, LiveServerMessage). The server
 * detects no turns. It takes nothing back, and answers as soon as a turn or a tool's result is whole.
 */
export function geminiLive(
  { base, key }: { base: string; key: string },
  { model = 'gemini-3.8-live', voice = 'Kore', settings }: LiveChoice,
): Realtime {
  const url = `${base.replace(/^http/, 'ws')}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`
  const sessionS = typeof settings.realtimeSessionS === 'number' ? settings.realtimeSessionS : SESSION_S
  return {
    capabilities: {
      inputRateHz: INPUT_RATE_HZ,
      outputRateHz: OUTPUT_RATE_HZ,
      speaks: true,
      edits: false,
      maxSessionMs: sessionS * 1000,
    },
    session: (config) => new LiveSession(url, key, setupOf(model, voice, config)),
  }
}

class LiveSession implements RealtimeSession {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly hello: readonly string[]
  /** Names of the model's own calls, by their ids: they are answered as such. */
  readonly #calls = new Map<string, string>()
  #results: object[] = []
  /** The caller's sound was begun. */
  #isHearing = false
  /** It becomes an item with the answer that is asked for next. */
  #isCommitted = false
  #items = 0
  #responses = 0
  /** What the session generates now. */
  #response: Generating | undefined
  #isAsked = false
  /** What is known of the caller's words in the activity that was heard last, and the part that was told. */
  #words = ''
  #toldWords = ''

  constructor(url: string, key: string, setup: object) {
    this.url = url
    this.headers = { 'x-goog-api-key': key }
    this.hello = [JSON.stringify({ setup })]
  }

  serialise(event: RealtimeClientEvent): string[] {
    return this.#told(event).map((message) => JSON.stringify(message))
  }

  parse(raw: string): RealtimeServerEvent[] {
    const message = JSON.parse(raw) as LiveMessage
    const events: RealtimeServerEvent[] = []
    if (message.setupComplete !== undefined) events.push({ type: 'ready' })
    if (message.goAway !== undefined) events.push({ type: 'going_away' })
    for (const id of message.toolCallCancellation?.ids ?? []) this.#calls.delete(id)
    const usage = message.usageMetadata && usageOf(message.usageMetadata)
    if (message.serverContent !== undefined) events.push(...this.#content(message.serverContent, usage))
    const calls = message.toolCall?.functionCalls ?? []
    if (calls.length > 0) events.push(...this.#called(calls, usage))
    return events
  }

  closed(code: number, reason: string): RealtimeFault {
    const message = reason === '' ? `the connection closed with ${code}` : reason
    if (/quota|resource.?exhausted|billing|credits/i.test(reason)) return { status: 429, message }
    // 1007: what was sent is not taken, nor is a key; 1008: there is no such model.
    return code === 1007 || code === 1008 ? { status: 400, message } : { message }
  }

  #told(event: RealtimeClientEvent): object[] {
    switch (event.type) {
      case 'configure': {
        const { systemInstruction, tools } = contextOf(event.config)
        return [{ contextUpdate: { systemInstruction, tools: { tools } } }]
      }
      case 'audio': {
        const { buffer, byteOffset, byteLength } = event.samples
        const data = Buffer.from(buffer, byteOffset, byteLength).toString('base64')
        const sound = { realtimeInput: { audio: { data, mimeType: `audio/pcm;rate=${INPUT_RATE_HZ}` } } }
        if (this.#isHearing) return [sound]
        this.#isHearing = true
        this.#words = ''
        this.#toldWords = ''
        return [{ realtimeInput: { activityStart: {} } }, sound]
      }
      case 'commit':
        this.#isCommitted = true
        return []
      case 'create':
        return this.#created(event.item)
      case 'respond':
        return this.#respond()
      case 'clear':
      case 'delete':
      case 'truncate':
      case 'cancel':
        return []
    }
  }

  #created(item: RealtimeItem): object[] {
    if (item.type === 'function_call_output' && this.#calls.has(item.callId)) {
      this.#calls.delete(item.callId)
      this.#results.push({ id: item.callId, name: item.name, response: { output: item.output } })
      return []
    }
    return [{ clientContent: { turns: [turnOf(item)], turnComplete: false } }]
  }

  #respond(): object[] {
    this.#isAsked = true
    const functionResponses = this.#results.splice(0)
    if (functionResponses.length > 0) return [{ toolResponse: { functionResponses } }]
    if (!this.#isCommitted) return [{ clientContent: { turnComplete: true } }]
    this.#isCommitted = false
    this.#isHearing = false
    return [{ realtimeInput: { activityEnd: {} } }]
  }

  #content(content: NonNullable<LiveMessage['serverContent']>, usage?: RealtimeUsage): RealtimeServerEvent[] {
    const { generationComplete, turnComplete, interrupted, inputTranscription } = content
    this.#words += inputTranscription?.text ?? ''
    const isWritten = [inputTranscription?.finished, generationComplete, turnComplete, interrupted].includes(true)
    const events = isWritten ? this.#transcribed() : []
    for (const { inlineData, thought } of content.modelTurn?.parts ?? []) {
      if (!inlineData?.data || thought === true) continue
      const { id: responseId, itemId } = this.#begun(events)
      events.push({ type: 'audio', responseId, itemId, bytes: Buffer.from(inlineData.data, 'base64') })
    }
    const text = content.outputTranscription?.text
    if (text) {
      const { id: responseId, itemId } = this.#begun(events)
      events.push({ type: 'text', responseId, itemId, text })
    }
    if (content.generationComplete === true && this.#response !== undefined) {
      this.#response.isWhole = true
      events.push({ type: 'audio_done', responseId: this.#response.id })
    }
    if (content.turnComplete === true && (this.#response !== undefined || this.#isAsked)) {
      const { isWhole } = this.#begun(events)
      events.push(this.#over(faultOf(content, isWhole), usage))
    } else if (content.interrupted === true && this.#response !== undefined && !this.#response.isWhole) {
      events.push(this.#over({ message: 'the answer was interrupted' }, usage))
    }
    return events
  }

  /** They come in pieces, while the caller speaks, before the answer or beside it; not every server says which piece is the last. */
  #transcribed(): RealtimeServerEvent[] {
    if (this.#isHearing || this.#words === this.#toldWords) return []
    this.#toldWords = this.#words
    return [{ type: 'transcribed', text: this.#words.trim() }]
  }

  #called(
    calls: NonNullable<NonNullable<LiveMessage['toolCall']>['functionCalls']>,
    usage?: RealtimeUsage,
  ): RealtimeServerEvent[] {
    const events = this.#transcribed()
    const { id: responseId } = this.#begun(events)
    for (const { id = '', name = '', args = {} } of calls) {
      this.#calls.set(id, name)
      const itemId = `call_${++this.#items}`
      events.push({ type: 'tool_call', responseId, itemId, callId: id, name, arguments: JSON.stringify(args) })
    }
    // The rest of the turn comes with the results.
    return [...events, this.#over(undefined, usage)]
  }

  /** What the session generates; begins it where nothing is generated yet. */
  #begun(events: RealtimeServerEvent[]): Generating {
    if (this.#response === undefined) {
      const id = `response_${++this.#responses}`
      this.#response = { id, itemId: `answer_${this.#responses}`, isWhole: false }
      this.#isAsked = false
      events.push({ type: 'response_started', responseId: id })
    }
    return this.#response
  }

  #over(fault: RealtimeFault | undefined, usage: RealtimeUsage | undefined): RealtimeServerEvent {
    const responseId = this.#response?.id ?? ''
    this.#response = undefined
    const used = usage === undefined ? {} : { usage }
    if (fault === undefined) return { type: 'response_done', responseId, status: 'completed', ...used }
    return { type: 'response_done', responseId, status: 'incomplete', fault, ...used }
  }
}

function setupOf(model: string, voiceName: string, config: RealtimeConfig): object {
  const { systemInstruction, tools } = contextOf(config)
  const { language, keyterms = [] } = config.transcribe ?? {}
  const inputAudioTranscription = {
    ...(language === undefined ? {} : { languageCodes: [language] }),
    ...(keyterms.length === 0 ? {} : { customVocabulary: [...keyterms] }),
  }
  return {
    model: `models/${model}`,
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
    },
    systemInstruction,
    ...(tools.length === 0 ? {} : { tools }),
    realtimeInputConfig: { automaticActivityDetection: { disabled: true } },
    ...(config.transcribe === undefined ? {} : { inputAudioTranscription }),
    outputAudioTranscription: {},
  }
}

/** A model that must not wait for a result talks on, and says what it does not know yet: each call is waited for. */
function contextOf({ instructions, tools }: RealtimeConfig): { systemInstruction: object; tools: object[] } {
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
    behavior: 'BLOCKING',
  }))
  return {
    systemInstruction: { parts: [{ text: instructions }] },
    tools: functionDeclarations.length === 0 ? [] : [{ functionDeclarations }],
  }
}

/** What the session did not hear or do itself, in its two roles: it knows no others, and no calls but its own. */
function turnOf(item: RealtimeItem): object {
  const turn = (role: 'user' | 'model', text: string): object => ({ role, parts: [{ text }] })
  switch (item.type) {
    case 'message':
      if (item.role === 'assistant') return turn('model', item.text)
      return turn('user', item.role === 'user' ? item.text : `[Note for you; the caller did not say it: ${item.text}]`)
    case 'function_call':
      return turn('user', `[Note for you: the tool ${item.name} was called with ${item.arguments}.]`)
    case 'function_call_output':
      return turn('user', `[Note for you: the tool ${item.name} gave: ${item.output}]`)
  }
}

function faultOf(
  { turnCompleteReason: reason, interrupted }: NonNullable<LiveMessage['serverContent']>,
  isWhole: boolean,
): RealtimeFault | undefined {
  if (interrupted === true && !isWhole) return { message: 'the answer was interrupted' }
  if (reason === 'MALFORMED_FUNCTION_CALL') return { code: reason, message: 'the model called a tool in a wrong form' }
  const isRefusal = /PROHIBITED|SAFETY|BLOCKLIST|REJECTED|NCII|CELEBRITY|UNSAFE/.test(reason ?? '')
  return isRefusal && reason !== undefined ? { status: 400, code: 'content_filter', message: reason } : undefined
}

function usageOf(usage: LiveUsage): RealtimeUsage {
  const parts = {
    audioInputTokens: audioIn(usage.promptTokensDetails),
    audioOutputTokens: audioIn(usage.responseTokensDetails),
    cachedInputTokens: count(usage.cachedContentTokenCount),
    cachedAudioTokens: audioIn(usage.cacheTokensDetails),
  }
  return {
    inputTokens: (count(usage.promptTokenCount) ?? 0) + (count(usage.toolUsePromptTokenCount) ?? 0),
    outputTokens: (count(usage.responseTokenCount) ?? 0) + (count(usage.thoughtsTokenCount) ?? 0),
    ...Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens !== undefined)),
    raw: usage as Readonly<Record<string, unknown>>,
  }
}

function audioIn(details: TokenPart[] | undefined): number | undefined {
  return details?.reduce((sum, part) => sum + (part.modality === 'AUDIO' ? (count(part.tokenCount) ?? 0) : 0), 0)
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
