import { test } from 'tap'
import { call, RATE_HZ } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'
import { speech } from './support/speech.ts'

const GERMAN = 'Wann haben Sie am Samstag geöffnet?'
const ENGLISH = 'What are your opening hours?'

class PolyglotTts extends ToneTts {
  readonly languages: string[] = []
  speakIn(language: string): void {
    this.languages.push(language)
  }
}

const world = (languageOf: (text: string) => string) => ({
  stt: new ScriptedStt({ utterances: [GERMAN, ENGLISH], languageOf }),
  llm: new ScriptedLlm((words) => (words === GERMAN ? new Error('down') : 'At nine.')),
  tts: new PolyglotTts(),
})

test('with multi, voice and phrases follow the caller, and the log says what was spoken', async (t) => {
  const providers = world((text) => (text === GERMAN ? 'de' : 'en'))
  const { port, say, hangUp } = await call({ providers, agent: { language: 'multi' } })
  t.teardown(hangUp)
  await say(speech(ENGLISH, RATE_HZ))
  await port.until('the answer', () => port.said.includes('assistant: At nine.'))
  await say(speech(GERMAN, RATE_HZ))
  await port.until('the apology', () => port.said.some((one) => one.includes('schiefgegangen')))
  const turns = port.events.filter((event) => event.type === 'turn')
  t.match(turns, [
    { text: ENGLISH, language: 'en' },
    { text: GERMAN, language: 'de' },
  ])
  t.ok(port.events.some((event) => event.type === 'words' && event.final && event.language === 'de'))
  t.strictSame(providers.tts.languages, ['en', 'de'])
})

test('where the recogniser names no language, the words do', async (t) => {
  const providers = world(() => '')
  const { port, say, hangUp } = await call({ providers, agent: { language: 'multi' } })
  t.teardown(hangUp)
  await say(speech(GERMAN, RATE_HZ))
  await port.until('the apology', () => port.said.some((one) => one.includes('schiefgegangen')))
  t.match(port.events.filter((event) => event.type === 'turn')[0], { language: 'de' })
})

test('an agent of one language is told to speak it, and stays with it', async (t) => {
  const providers = world(() => 'en')
  const { port, say, hangUp } = await call({ providers, agent: { language: 'fr', systemPrompt: 'You help.' } })
  t.teardown(hangUp)
  await say(speech(ENGLISH, RATE_HZ))
  await port.until('the answer', () => port.said.includes('assistant: At nine.'))
  const [instructions] = providers.llm.contexts[0]?.items ?? []
  t.match(
    instructions?.type === 'message' ? instructions.textContent : '',
    /You help\.\s+Réponds toujours en français et vouvoie/,
  )
  t.strictSame(providers.tts.languages, [])
})
