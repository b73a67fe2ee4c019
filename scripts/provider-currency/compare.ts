import type { Manifest } from '../../runtime/plugin/contract.ts'

export type Kind = 'llm' | 'stt' | 'tts' | 'realtime'

/** What an SDK's types say of the models of a kind. */
export interface SdkModels {
  names: ReadonlySet<string>
  /** The day a model is switched off, where the SDK says it. */
  ends: ReadonlyMap<string, string>
}

interface Sdk {
  plugin: string
  name: string
  /** Where its types name models. */
  read?(types: string): Partial<Record<Kind, SdkModels>>
}

/** The vendors' packages, by plugin. */
export const SDKS: readonly Sdk[] = [
  { plugin: 'openai', name: 'openai', read: readOpenAI },
  { plugin: 'anthropic', name: '@anthropic-ai/sdk', read: readAnthropic },
  { plugin: 'google', name: '@google/genai', read: readGoogle },
  {
    plugin: 'cartesia',
    name: '@cartesia/cartesia-js',
    read: (types) => ({ tts: namesIn(types, /\bsonic-[\w.-]*\w/g), stt: namesIn(types, /\bink-[\w-]*\w/g) }),
  },
  { plugin: 'assemblyai', name: 'assemblyai', read: (types) => ({ stt: unionOf(types, 'StreamingSpeechModel') }) },
  { plugin: 'deepgram', name: '@deepgram/sdk' },
  { plugin: 'elevenlabs', name: '@elevenlabs/elevenlabs-js' },
  { plugin: 'azure', name: 'microsoft-cognitiveservices-speech-sdk' },
  { plugin: 'twilio', name: 'twilio' },
  { plugin: 'telnyx', name: 'telnyx' },
  { plugin: 'plivo', name: 'plivo' },
]

/** Plugins of vendors that are left out, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  qdrant: "its vendor's own client makes the requests, and the product is compiled against its types",
  s3: "Amazon's SDK types the arguments of its commands, not what it sends for them",
}

/** Models that a phone call has no use for. */
const OTHER_USE =
  /search|audio|image|codex|vision|cyber|daybreak|rosalind|instruct|deep-research|computer-use|pro\b|16k|32k|robotics|live|diarize|omni|banana|lyria|gemma|preview|mythos|\d{4}-?\d\d-?\d\d$|-\d{4}$/

/** Realtime models that speak with a caller. */
const REALTIME = /(?<=['"])gpt-realtime(?:-\d[\d.]*)?(?:-mini)?(?=['"])/g

/** What differs between our lists and an SDK's. */
export function compareModels(
  manifest: Manifest,
  told: Partial<Record<Kind, SdkModels>>,
  now: Date,
): { text: string; isFault: boolean }[] {
  const today = now.toISOString().slice(0, 10)
  const found: { text: string; isFault: boolean }[] = []
  const say = (isFault: boolean, text: string) => found.push({ isFault, text })
  for (const [kind, { names, ends }] of Object.entries(told) as [Kind, SdkModels][]) {
    const provides = manifest.provides[kind]
    if (provides === undefined) continue
    const { models = [], defaultModel, ends: ours = {} } = provides
    for (const model of models) {
      if (!names.has(model)) say(true, `${kind} ${model}: listed by us, not in the SDK`)
      const day = ends.get(model)
      const known = ours[model]?.on
      if (day !== undefined && known !== day)
        say(true, `${kind} ${model}: ends on ${day}; our data says ${known ?? 'nothing'}`)
      if ((known ?? day ?? '9999') <= today)
        say(true, `${kind} ${model}: ended on ${known ?? day}, and is still listed`)
    }
    if (defaultModel !== undefined && (ours[defaultModel]?.on ?? '9999') <= today) {
      say(true, `${kind} ${defaultModel}: is our default and has ended`)
    }
    for (const model of names) {
      const isCurrent = (ends.get(model) ?? '9999') > today
      if (isCurrent && !models.includes(model) && !(model in ours) && !OTHER_USE.test(model))
        say(false, `${kind} ${model}: new`)
    }
  }
  return found
}

function namesIn(types: string, pattern: RegExp): SdkModels {
  return { names: new Set(types.match(pattern) ?? []), ends: new Map() }
}

/** The names of `type <name> = 'a' | 'b' …`. */
function unionOf(types: string, name: string): SdkModels {
  const names = new Set<string>()
  for (const [, body = ''] of types.matchAll(new RegExp(`type ${name}\\b[^=]*=([^;]*);`, 'g'))) {
    for (const [, model = ''] of body.matchAll(/['"]([\w.-]+)['"]/g)) names.add(model)
  }
  return { names, ends: new Map() }
}

/** The comment before each list names models and the day they end. */
function readOpenAI(types: string): Partial<Record<Kind, SdkModels>> {
  const ends = new Map<string, string>()
  const flat = types.replace(/\n\s*\* ?/g, ' ')
  for (const [, models = '', day = ''] of flat.matchAll(
    /- ((?:"[\w.-]+",?\s*)+): Announced shutdown date:\s*(\d{4}-\d\d-\d\d)/g,
  )) {
    for (const [, model = ''] of models.matchAll(/"([\w.-]+)"/g)) ends.set(model, day)
  }
  const stt = unionOf(types, 'AudioModel').names
  for (const [name] of types.matchAll(/(?<=['"])gpt-live-transcribe(?=['"])/g)) (stt as Set<string>).add(name)
  const realtime = new Set(types.match(REALTIME) ?? [])
  return {
    llm: { names: unionOf(types, 'ChatModel').names, ends },
    stt: { names: stt, ends },
    // Realtime models speak texts, too.
    tts: { names: new Set([...unionOf(types, 'SpeechModel').names, ...realtime]), ends },
    realtime: { names: realtime, ends },
  }
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

function readAnthropic(types: string): Partial<Record<Kind, SdkModels>> {
  const ends = new Map<string, string>()
  for (const [, model = '', month = '', day = '', year = ''] of types.matchAll(
    /'(claude-[\w-]+)': '([A-Z][a-z]+) (\d+)[a-z]*, (\d{4})'/g,
  )) {
    const number = MONTHS.indexOf(month) + 1
    if (number > 0) ends.set(model, `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`)
  }
  const names = [...unionOf(types, 'Model').names].filter((name) => name.startsWith('claude-'))
  return { llm: { names: new Set(names), ends } }
}

function readGoogle(types: string): Partial<Record<Kind, SdkModels>> {
  const all = [...unionOf(types, 'Model_2').names].filter((name) => name.startsWith('gemini-'))
  const isVoice = (name: string) => /-tts/.test(name)
  return {
    llm: { names: new Set(all.filter((name) => !isVoice(name) && !/transcribe/.test(name))), ends: new Map() },
    tts: { names: new Set(all.filter(isVoice)), ends: new Map() },
  }
}
