import t from 'tap'
import { answer } from '../../../../plugins/offline/answer.ts'
import { LANGUAGES as SPOKEN } from '../../../../runtime/conversation/languages/index.ts'

const PROMPT = `You are Ava, the receptionist of Harbour Dental. You are friendly. Always answer in one sentence.
## Facts
- We are open Monday to Friday from nine to five.
- On **Saturdays** we open from ten to two.
- We are closed on Sundays and public holidays.
- The clinic is at 12 Pier Street, next to the harbour.
- A check-up costs eighty euros.
- A cleaning costs sixty euros.
- There is free parking behind the building.
Q: Do you treat children?
A: Yes, from the age of three.
You can cancel an appointment free of charge up to one day before.
If the caller is in pain, ask them to come at once.`

const ask = (question: string, ...more: string[]) =>
  answer({ sources: [PROMPT, ...more], turns: [{ role: 'user', text: question }] })

const UNKNOWN = "I'm sorry, I don't know that."

t.test('a question is answered with the sentence that says it', async (t) => {
  const expected: Record<string, string> = {
    'What time do you open on Saturday?': 'On Saturdays we open from ten to two.',
    'Where is the clinic?': 'The clinic is at 12 Pier Street, next to the harbour.',
    'How much is a cleaning?': 'A cleaning costs sixty euros.',
    'How much does a check up cost?': 'A check-up costs eighty euros.',
    'Can I park there?': 'There is free parking behind the building.',
    'How can I cancel my appointment?': 'You can cancel an appointment free of charge up to one day before.',
  }
  for (const [question, sentence] of Object.entries(expected)) t.equal(ask(question), sentence, question)
})

t.test('what the sources do not say is not made up', async (t) => {
  for (const question of ['What is the capital of France?', 'Do you sell bicycles?', 'Are you open on Christmas?']) {
    t.equal(ask(question), UNKNOWN, question)
  }
})

t.test('a question of an FAQ is found by its own words and answered with what follows it', async (t) => {
  t.equal(ask('Do you treat children?'), 'Yes, from the age of three.')
})

t.test('a retrieved passage is a source like the prompt', async (t) => {
  t.equal(ask('Do you take credit cards?'), UNKNOWN)
  t.equal(
    ask('Do you take credit cards?', '[1] We take cash and all credit cards.'),
    'We take cash and all credit cards.',
  )
})

t.test('orders to the agent are never said aloud, but it can say who it is', async (t) => {
  t.equal(ask('Who are you?'), "I'm Ava, the receptionist of Harbour Dental.")
  t.equal(ask('Do you always answer in one sentence?'), UNKNOWN)
  t.equal(ask('What if I am in pain?'), UNKNOWN)
})

t.test('small talk is met with small talk', async (t) => {
  t.equal(ask('Hello'), 'Hello! How can I help you?')
  t.equal(ask('Thank you very much.'), "You're welcome.")
  t.equal(ask('Okay, goodbye!'), 'Goodbye, and have a good day.')
  t.equal(answer({ sources: [], turns: [] }), 'Hello! How can I help you?')
})

t.test('the last answer is repeated on demand', async (t) => {
  const turns = [
    { role: 'assistant' as const, text: 'A cleaning costs sixty euros.' },
    { role: 'user' as const, text: 'Can you repeat that?' },
  ]
  t.equal(answer({ sources: [PROMPT], turns }), 'A cleaning costs sixty euros.')
})

t.test('a prompt in another language is answered in that language', async (t) => {
  const german =
    'Du bist Max. Antworte kurz. Wir haben montags bis freitags von neun bis fünf geöffnet. Die Praxis liegt in der Hafenstraße 12.'
  const say = (text: string) => answer({ sources: [german], turns: [{ role: 'user', text }] })
  t.equal(say('Wo ist die Praxis?'), 'Die Praxis liegt in der Hafenstraße 12.')
  t.equal(say('Verkaufen Sie Fahrräder?'), 'Das weiß ich leider nicht.')
})

t.test('what the runtime adds to a prompt is no fact, and tells nothing of its language', async (t) => {
  for (const language of SPOKEN.slice(0, 6)) {
    const { orders, informal, regions, code } = language
    const added = [
      orders.language,
      informal.order,
      ...Object.values(regions).flatMap((one) => [one.order, one.informalOrder]),
    ]
    for (const order of added.filter((one) => one !== undefined)) {
      const prompt = `We open at nine.\n\n${order} ${orders.sayAi}`
      const said = answer({ sources: [prompt], turns: [{ role: 'user', text: 'AI human?' }], language: code })
      t.notOk(orders.sayAi.includes(said) || order.includes(said), `${code}: ${said}`)
    }
  }
  const german =
    'Wir öffnen um neun Uhr und schließen um fünf.\n\nIf you are asked whether you are a human, say that you are an AI.'
  t.match(answer({ sources: [german], turns: [{ role: 'user', text: 'xyz' }] }), /leider|wissen|möchten/)
})
