import { test } from 'tap'
import { SentenceTTS } from '../../../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { call } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'

const MS_PER_CHARACTER = 60
const RATE_HZ = 16_000
const LONG = Array.from(
  { length: 300 },
  (_, i) => `This is sentence number ${i} of what I have to tell you today. `,
).join('')
/** What is given at once, and a sentence: beyond what the caller heard. */
const MAX_AHEAD_CHARS = 250

/** Speaks faster than it is heard, and keeps what it was asked for, and how much it had made by then. */
function countingVoice(asks?: (madeMs: number) => void) {
  const asked: string[] = []
  let madeMs = 0
  const voice = new SentenceTTS({
    provider: 'counting',
    name: 'tone',
    language: 'en',
    sampleRateHz: RATE_HZ,
    async *speak(text) {
      asked.push(text)
      asks?.(madeMs)
      madeMs += text.length * MS_PER_CHARACTER
      yield new Int16Array((text.length * MS_PER_CHARACTER * RATE_HZ) / 1000).fill(6_000)
    },
  })
  return { voice, characters: () => asked.join(' ').length, asked }
}

const heardCharacters = (frames: number): number => (frames * 20) / MS_PER_CHARACTER

test('a long first message that is cut off has cost little more than was heard of it', async (t) => {
  const { voice, characters, asked } = countingVoice()
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: new ScriptedLlm(() => 'Yes.'), tts: voice },
    agent: { firstMessage: LONG },
  })
  await port.until('two seconds were heard', () => port.loudFrames >= 100)
  type('Stop.')
  await port.until('the answer was said', () => port.said.at(-1) === 'assistant: Yes.')
  const heard = heardCharacters(port.loudFrames)
  t.ok(characters() < heard + MAX_AHEAD_CHARS, `${characters()} characters asked, ${heard} heard`)
  await hangUp()
  const { characters: used } = port.used
  t.equal(used, asked.join('').length, 'characters are counted as the voice was asked for them')
})

test('an answer of several parts is said whole, each asked for before the last is over', async (t) => {
  const leftMs: number[] = []
  const { voice, asked } = countingVoice((madeMs) => leftMs.push(madeMs - port.loudFrames * 20))
  const answer = LONG.slice(0, 400).replace(/[^.]*$/u, '')
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: new ScriptedLlm(() => answer), tts: voice },
  })
  t.teardown(hangUp)
  type('Tell me.')
  await port.until('the answer was said', () => port.turns.length === 2)
  t.equal(port.turns[1]!.turn.text, answer.trim())
  t.equal(asked.join(' '), answer.trim())
  t.ok(leftMs.length > 3)
  for (const left of leftMs.slice(1)) t.ok(left > 0, `${left} ms were left to hear`)
})

test('the next voice goes on with the part that failed', async (t) => {
  const first: ToneTts = new ToneTts(() => (first.said.length > 0 ? new Error('gone') : undefined))
  const second = new ToneTts()
  const answer = LONG.slice(0, 300).replace(/[^.]*$/u, '')
  const { port, type, hangUp } = await call({
    providers: {
      stt: new ScriptedStt({ utterances: [] }),
      llm: new ScriptedLlm(() => answer),
      tts: [first, second],
    },
  })
  t.teardown(hangUp)
  type('Tell me.')
  await port.until('the answer was said', () => port.turns.length === 2)
  t.equal(port.turns[1]!.turn.text, answer.trim())
  t.equal((first.said.join('') + second.said.join('')).replaceAll(/\s+/gu, ' ').trim(), answer.trim())
  t.equal(first.said.length, 1)
})

test('before a model or a voice is asked it is said what that will cost, and no longer once it is counted', async (t) => {
  const missing: number[] = []
  let inputTokens = 0
  const { voice, asked } = countingVoice(() => {
    const { used, owed } = port
    missing.push(asked.join('').length - used.characters - (owed.at(-1)?.characters ?? 0))
  })
  const llm = new ScriptedLlm(() => {
    inputTokens = port.owed.at(-1)?.input_tokens ?? 0
    return LONG
  })
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm, tts: voice },
    agent: { systemPrompt: 'You tell stories. '.repeat(40) },
  })
  type('Tell me.')
  await port.until('a second of the answer was heard', () => port.loudFrames >= 50)
  t.ok(inputTokens > 100, `${inputTokens}`)
  await hangUp()
  t.ok(missing.length > 1)
  t.ok(
    missing.every((characters) => characters === 0),
    `told as they were asked: ${missing}`,
  )
  t.same(port.owed.at(-1), { input_tokens: 0, output_tokens: 0, characters: 0 })
  t.equal(port.used.characters, asked.join('').length)
})
