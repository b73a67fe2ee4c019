import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import type { ToolSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import { LANGUAGES } from '../../../../../runtime/conversation/languages/index.ts'
import type { Language } from '../../../../../runtime/conversation/languages/language.ts'
import { call, RATE_HZ, type RecordingPort } from '../support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from '../support/providers.ts'
import { speech } from '../support/speech.ts'

/** A call in each language from its first words to its last: all that the agent says by itself, in order, as the table has it. */

/** The voice speaks so fast: the texts count, not how long they last. */
const MS_PER_CHARACTER = 8
const FIRST_MESSAGE = 'Aurora.'
const MAILBOX = 'Please leave a message after the tone.'
const NO_PARAMETERS = { type: 'object', properties: {} }
const TRANSFER: ToolSpec = { name: 'put_through', description: 'Sales', parameters: NO_PARAMETERS, kind: 'transfer' }
const HANG_UP: ToolSpec = { name: 'hang_up', description: 'Ends the call', parameters: NO_PARAMETERS, kind: 'hang_up' }

/** What the caller heard, in order; a filler is heard with what follows it. */
const heardIn = (port: RecordingPort): string[] =>
  port.events.flatMap((event) => (event.type === 'heard' && event.final ? event.text : []))

/** What the language's callers and mailboxes say (support/heard). */
const sayings = ({ code }: Language): Record<string, string[]> =>
  parse(readFileSync(new URL(`support/heard/${code}.yaml`, import.meta.url), 'utf8'))

const voice = () => new ToneTts(undefined, MS_PER_CHARACTER)

/** Notice, question, first message, disclosure, filler, a transfer that is announced and fails, goodbye. */
async function person(language: Language): Promise<string[]> {
  const { phrases, code } = language
  const answers = Promise.withResolvers<void>()
  const model = new ScriptedLlm((words, { items }) => {
    const last = items.at(-1)
    if (last?.type === 'function_call_output')
      return JSON.parse(/Say to the caller: (".*")/.exec(JSON.parse(last.output))?.[1] ?? '""')
    return words === 'Sales' ? 'call put_through' : 'call hang_up'
  }, answers.promise)
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: model, tts: voice() },
    agent: {
      ...{ language: code, firstMessage: FIRST_MESSAGE, tools: [TRANSFER, HANG_UP], aiDisclosure: 'after' },
      ...{ recordingNotice: phrases.recordingNotice, consentMessage: phrases.recordingConsent },
      deadAir: { enabled: true, phrases: [] },
    },
  })
  try {
    port.runTool = () => 'The transfer failed; the caller is still here.'
    await port.until(`${code}: the question`, () => heardIn(port).includes(phrases.recordingConsent))
    type(sayings(language).yes![0]!)
    await port.until(`${code}: the disclosure`, () => heardIn(port).includes(phrases.disclosure))
    type('Sales')
    await port.until(`${code}: the filler`, () => port.events.some(({ type }) => type === 'filler'))
    answers.resolve()
    await port.until(`${code}: the transfer`, () => heardIn(port).includes(phrases.transferFailed))
    type('Thanks')
    await port.until(`${code}: the end`, () => port.endings.length > 0)
    return [...heardIn(port), `consent ${port.consents}`, port.endings[0]!.reason]
  } finally {
    await hangUp()
  }
}

/** The longest time of the call is nearly over. */
async function limit({ code, phrases }: Language): Promise<string[]> {
  const { port, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [] }), llm: new ScriptedLlm(() => 'Yes.'), tts: voice() },
    agent: { language: code, firstMessage: FIRST_MESSAGE },
    open: { limits: { idleMs: 60_000, maxDurationMs: 60_000 }, elapsedMs: 44_000 },
  })
  try {
    await port.until(`${code}: the announcement`, () => heardIn(port).includes(phrases.almostOver))
    return heardIn(port)
  } finally {
    await hangUp()
  }
}

/** A mailbox, which is given the ready message. */
async function mailbox(language: Language): Promise<string[]> {
  const { code, phrases } = language
  const { port, say, hangUp } = await call({
    providers: {
      stt: new ScriptedStt({ utterances: [MAILBOX], writes: () => sayings(language).mailbox![1]! }),
      llm: new ScriptedLlm(() => 'Yes.'),
      tts: voice(),
    },
    agent: {
      ...{ language: code, aiDisclosure: 'after' },
      voicemail: { behaviour: 'leave_message', message: phrases.voicemail },
    },
  })
  try {
    await say(speech(MAILBOX, RATE_HZ))
    await port.until(`${code}: the end`, () => port.endings.length > 0)
    return [...port.answerers, ...heardIn(port), port.endings[0]!.reason]
  } finally {
    await hangUp()
  }
}

t.test('a call is held in each language, by the sentences of its table', async (t) => {
  await Promise.all(
    LANGUAGES.map(async (language) => {
      const { phrases } = language
      t.same(await person(language), [
        ...[phrases.recordingNotice, phrases.recordingConsent, FIRST_MESSAGE, phrases.disclosure],
        ...[`${phrases.oneMoment} ${phrases.transferring}`, phrases.transferFailed, phrases.bye],
        ...['consent given', 'agent_hangup'],
      ])
    }),
  )
})

t.test('the end of a long call is announced in each language', async (t) => {
  await Promise.all(
    LANGUAGES.map(async (language) => t.same(await limit(language), [FIRST_MESSAGE, language.phrases.almostOver])),
  )
})

t.test('a mailbox of each language is told for one, and is left the message of the table', async (t) => {
  await Promise.all(
    LANGUAGES.map(async (language) =>
      t.same(await mailbox(language), [
        'machine',
        language.phrases.disclosure,
        language.phrases.voicemail,
        'voicemail',
      ]),
    ),
  )
})
