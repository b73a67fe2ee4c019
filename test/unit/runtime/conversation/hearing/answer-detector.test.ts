import t from 'tap'
import { AnswerDetector } from '../../../../../runtime/conversation/hearing/answer-detector.ts'

const ANSWERED_MS = 1_000

/** Says it from the answer on; ticks every 20 ms until `untilMs` after the answer. */
function hear(text: string, speechMs: number, untilMs: number, startsMs = 400): AnswerDetector {
  const detector = new AnswerDetector(ANSWERED_MS)
  for (let ms = 0; ms <= untilMs; ms += 20) {
    const nowMs = ANSWERED_MS + ms
    if (ms === startsMs) detector.speechStarted(nowMs)
    if (ms === startsMs + speechMs) {
      detector.speechEnded(nowMs)
      detector.words(text, nowMs)
    }
    detector.tick(nowMs)
  }
  return detector
}

t.test('words of a machine are a machine', async (t) => {
  const greetings = [
    'Please leave a message after the beep.',
    "You've reached the voicemail box of Ada Lovelace.",
    "Hi, it's Bob. I can't take your call right now, so leave me your name and number.",
    'The person you are calling is not available right now.',
    'Bitte hinterlassen Sie eine Nachricht nach dem Signalton.',
    'Por favor, deje un mensaje después de la señal.',
    'Laissez un message après le bip sonore.',
    'Lasciate un messaggio dopo il segnale acustico.',
    'Deixe uma mensagem após o sinal.',
  ]
  for (const greeting of greetings) t.equal(hear(greeting, 2_000, 3_000).verdict, 'machine', greeting)
})

t.test('an assistant that asks who is calling is screening', async (t) => {
  const questions = [
    'Hi, who is calling please?',
    "If you record your name and reason for calling, I'll see if this person is available.",
    'The person you are calling is using a screening service.',
    'Before I try to connect you, can you tell me why you are calling?',
  ]
  for (const question of questions) t.equal(hear(question, 3_000, 4_000).verdict, 'screening', question)
})

t.test('a short greeting and a pause are a human', async (t) => {
  for (const greeting of ['Hello?', 'Ada Lovelace speaking, good morning.', 'Ja, bitte?']) {
    t.equal(hear(greeting, 900, 2_200).verdict, 'human', greeting)
  }
  t.equal(hear('Hello?', 900, 1_800).verdict, undefined, 'not before the pause')
})

t.test('nobody is a machine for the length of what they say', async (t) => {
  t.not(hear('Thank you for calling the Aurora Hotel in the heart of town', 5_100, 9_000).verdict, 'machine')
  const late = hear('Well let me think about that for a while', 8_000, 14_000, 5_000)
  t.not(late.verdict, 'machine')
})

t.test('a human stays one, whatever is said later and whatever sounds', async (t) => {
  const later = [
    'Sorry, he is not available right now',
    'Would you like to leave a message for him',
    'I am not available at the moment, call me tomorrow',
    'Sorry, who is this?',
    'Can you leave your name and number?',
  ]
  for (const sentence of later) {
    const detector = hear('Hello?', 900, 2_400)
    t.equal(detector.verdict, 'human')
    t.equal(detector.words(sentence, ANSWERED_MS + 15_000), undefined, sentence)
    t.equal(detector.beep(ANSWERED_MS + 20_000), undefined)
    t.equal(detector.fax(ANSWERED_MS + 20_000), undefined)
    t.equal(detector.carrier('machine', ANSWERED_MS + 21_000), undefined)
    t.equal(detector.tick(ANSWERED_MS + 30_000), undefined)
    t.equal(detector.verdict, 'human', sentence)
  }
})

t.test('a beep counts after a greeting, not without one and not in a dialogue', async (t) => {
  t.equal(new AnswerDetector(ANSWERED_MS).beep(ANSWERED_MS + 3_000), undefined, 'nothing was said')
  const greeted = hear('', 4_000, 4_600)
  t.equal(greeted.beep(ANSWERED_MS + 4_800), 'machine')
  const talk = hear('', 1_000, 3_500)
  talk.speechStarted(ANSWERED_MS + 5_000)
  talk.speechEnded(ANSWERED_MS + 6_000)
  t.equal(talk.beep(ANSWERED_MS + 6_500), undefined, 'who spoke, listened and speaks again is no greeting')
})

t.test('a fax is heard, by us or by the carrier', async (t) => {
  t.equal(new AnswerDetector(ANSWERED_MS).fax(ANSWERED_MS + 1_500), 'fax')
  t.equal(new AnswerDetector(ANSWERED_MS).carrier('fax', ANSWERED_MS + 1_500), 'fax')
})

t.test('silence is unknown', async (t) => {
  t.equal(new AnswerDetector(ANSWERED_MS).tick(ANSWERED_MS + 14_000), undefined)
  t.equal(new AnswerDetector(ANSWERED_MS).tick(ANSWERED_MS + 15_000), 'unknown')
})

t.test("the carrier's machine counts unless words say that it is an assistant", async (t) => {
  const detector = new AnswerDetector(ANSWERED_MS)
  t.equal(detector.carrier('machine', ANSWERED_MS + 2_000), undefined)
  t.equal(detector.tick(ANSWERED_MS + 5_000), undefined)
  t.equal(detector.tick(ANSWERED_MS + 6_000), 'machine')
  const screened = new AnswerDetector(ANSWERED_MS)
  screened.carrier('machine', ANSWERED_MS + 2_000)
  t.equal(screened.words('who is calling', ANSWERED_MS + 3_000), 'screening')
  t.equal(screened.tick(ANSWERED_MS + 9_000), undefined)
  t.equal(screened.words('please leave a message', ANSWERED_MS + 12_000), 'machine', 'and then to voicemail')
  t.equal(screened.words('who is calling', ANSWERED_MS + 13_000), undefined, 'a machine stays one')
})

t.test("the carrier's human is believed, late words are a conversation", async (t) => {
  const detector = new AnswerDetector(ANSWERED_MS)
  t.equal(detector.carrier('human', ANSWERED_MS + 500), 'human')
  t.equal(detector.words('can I leave a message for him', ANSWERED_MS + 60_000), undefined)
})

t.test('a hint is no machine by itself, two different ones are, and so is one before a beep', async (t) => {
  t.equal(hear('Sorry, he is not available right now.', 1_800, 2_600).verdict, undefined, 'a voicemail would go on')
  t.equal(hear('Sorry, he is not available right now.', 1_800, 6_000).verdict, 'human')
  t.equal(hear("You've reached the Millers, we are not here right now.", 2_600, 3_100).verdict, 'machine')
  const beeped = hear('He is not available right now.', 1_800, 3_000)
  t.equal(beeped.beep(ANSWERED_MS + 3_020), 'machine')
})

t.test('a menu may lead to a human, a full mailbox is told from a machine', async (t) => {
  const menu = hear('For sales, press one.', 2_000, 3_000)
  t.equal(menu.verdict, 'ivr')
  t.equal(menu.words('Sales, this is Bob, how can I help you?', ANSWERED_MS + 9_000), 'human')
  t.equal(hear('The mailbox is full.', 1_500, 2_500).verdict, 'mailbox_full')
  t.equal(hear("Sorry, but the user's mailbox can't accept more messages.", 1_500, 4_500).verdict, 'mailbox_full')
  const full = hear("You've reached the voicemail of Bob.", 1_500, 2_500)
  t.equal(full.verdict, 'machine')
  t.equal(full.words('The mailbox is full.', ANSWERED_MS + 4_000), 'mailbox_full')
})

t.test('who asks in a few words who is calling is a human, in many an assistant', async (t) => {
  t.equal(hear('Who is this?', 900, 3_000).verdict, 'human')
  t.equal(hear('Hi, who is calling please?', 3_000, 4_000).verdict, 'screening')
})

t.test('a long greeting in words that nobody knows waits for its beep, and is a human without one', async (t) => {
  const greeting = 'Nemohu teď mluvit nechte mi prosím vzkaz ozvu se jakmile to půjde'
  const detector = hear(greeting, 7_000, 9_400)
  t.equal(detector.verdict, undefined, 'two seconds after its end')
  t.equal(detector.beep(ANSWERED_MS + 9_420), 'machine')
  t.equal(hear(greeting, 7_000, 10_500).verdict, 'human')
})
