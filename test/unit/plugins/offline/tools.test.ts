import t from 'tap'
import type { Message, Tool } from '../../../../packages/plugin/mod.ts'
import { type Reply, reply } from '../../../../plugins/offline/reply.ts'

/** A Wednesday. */
const NOW = Date.parse('2026-03-04T10:00:00Z')
const PROMPT = `You are Ava, the host of the Harbour Bistro.
We are open from Tuesday to Sunday, from noon to ten in the evening.
A table by the window costs nothing extra.
Delivery costs three euros.`

const tool = (
  name: string,
  description: string,
  properties: Record<string, unknown>,
  required: string[] = [],
): Tool => ({
  name,
  description,
  parameters: { type: 'object', properties, required },
})
const BOOK = tool(
  'book_table',
  'Books a table.',
  {
    day: { type: 'string' },
    seats: { type: 'integer', minimum: 1, maximum: 12 },
    name: { type: 'string', description: "The guest's name" },
  },
  ['day', 'seats'],
)
const ORDER = tool('order_status', 'Looks up where an order is.', { order_id: { type: 'string' } }, ['order_id'])
const PERSON = tool('to_support', 'Transfers to a person in support.', {})
const END = tool('end_call', 'Ends the call when the caller has said goodbye.', {})
const ALL = [BOOK, ORDER, PERSON, END]

/** A conversation: the caller's words, and the agent's own answers between them. */
class Talk {
  readonly messages: Message[] = [{ role: 'system', content: PROMPT }]
  readonly #tools: readonly Tool[]
  readonly #language: string

  constructor(tools: readonly Tool[] = ALL, language = 'en', prompt = PROMPT) {
    this.#tools = tools
    this.#language = language
    this.messages = [{ role: 'system', content: prompt }]
  }

  say(content: string): Reply {
    this.messages.push({ role: 'user', content })
    return this.#answer()
  }

  /** What comes of the last call. */
  result(content: string): Reply {
    this.messages.push({ role: 'tool_result', id: 'a', name: 'a', content })
    return this.#answer()
  }

  #answer(): Reply {
    const said = reply({ messages: this.messages, tools: this.#tools, language: this.#language, nowMs: NOW })
    if (said.text !== undefined) this.messages.push({ role: 'assistant', content: said.text })
    if (said.call !== undefined) {
      const { name } = said.call
      this.messages.push({ role: 'tool_call', id: 'a', name, arguments: JSON.stringify(said.call.arguments) })
    }
    return said
  }
}
const ask = (text: string, ...tools: Tool[]): Reply => new Talk(tools.length === 0 ? ALL : tools).say(text)

t.test('a tool is called with what the caller’s words say of its parameters', async (t) => {
  const expected: [string, string, Record<string, unknown>][] = [
    ["I'd like to book a table for four on Monday.", 'book_table', { day: 'Monday', seats: 4 }],
    ['Can I reserve a table for 2 tomorrow?', 'book_table', { day: 'tomorrow', seats: 2 }],
    [
      'A table for twelve on Friday under the name Maria Smith, please.',
      'book_table',
      { day: 'Friday', seats: 12, name: 'Maria Smith' },
    ],
    [
      'Hi, my wife and I have our anniversary and would love to book a table for two on Saturday at seven.',
      'book_table',
      { day: 'Saturday', seats: 2 },
    ],
    ['Where is my order 4711?', 'order_status', { order_id: '4711' }],
    ['What is the status of order A-1234?', 'order_status', { order_id: 'A-1234' }],
    ['My order number is one two three four, where is it?', 'order_status', { order_id: '1234' }],
    ['I want to speak to a person.', 'to_support', {}],
    ['Can you transfer me to someone in support?', 'to_support', {}],
  ]
  for (const [said, name, args] of expected) t.same(ask(said).call, { name, arguments: args }, said)
})

t.test('days, hours and numbers are read with apostrophes and of more than one word', async (t) => {
  const ROOM = tool(
    'book_room',
    'Réserve une salle. Books a room. Reserviert einen Raum.',
    { day: { type: 'string' }, time: { type: 'string' }, people: { type: 'integer' } },
    ['day', 'time', 'people'],
  )
  const expected: [language: string, said: string, args: Record<string, unknown>][] = [
    [
      'fr',
      'Je voudrais réserver une salle aujourd’hui à sept heures pour cent vingt personnes.',
      { day: 'aujourd’hui', time: '07:00', people: 120 },
    ],
    [
      'en',
      "Please book a room tomorrow at seven o'clock for two hundred and fifty people.",
      { day: 'tomorrow', time: '07:00', people: 250 },
    ],
    [
      'de',
      'Ich möchte morgen um ein Uhr einen Raum für zweihundertfünfzig Personen reservieren.',
      { day: 'morgen', time: '01:00', people: 250 },
    ],
  ]
  for (const [language, said, args] of expected)
    t.same(new Talk([ROOM], language, '').say(said).call, { name: 'book_room', arguments: args }, said)
  const asked = new Talk([ROOM], 'fr', '')
  t.match(asked.say('Je voudrais réserver une salle à sept heures pour six personnes.').text, /day/)
  t.same(asked.say("Aujourd'hui").call?.arguments, { day: "Aujourd'hui", time: '07:00', people: 6 })
  t.equal(new Talk([ROOM], 'de', '').say('Ich rufe an, um einen Raum zu reservieren.').call, undefined)
})

t.test('a question that the prompt answers calls no tool, and neither does anything else', async (t) => {
  const expected: [string, RegExp][] = [
    ['How much is delivery?', /three euros/],
    ['When are you open?', /noon to ten/],
    ['Are you open on Tuesday?', /noon to ten/],
    ['Does a table by the window cost extra?', /nothing extra/],
    ['What is the weather like?', /don't know/],
    ['Do you have four bicycles on Monday?', /don't know/],
    ['Hello', /How can I help/],
    ['Thank you very much.', /welcome/],
  ]
  for (const [said, answer] of expected) {
    const { text, call } = ask(said)
    t.equal(call, undefined, said)
    t.match(text, answer, said)
  }
})

t.test('what is missing is asked for, one after the other, and an answer completes the call', async (t) => {
  const talk = new Talk()
  t.match(talk.say('I want to book a table.').text, /day/)
  t.match(talk.say('On Sunday.').text, /seats/)
  t.match(talk.say('How much is delivery?').text, /three euros/, 'a question in between is answered')
  t.same(talk.say('Six, please.').call, { name: 'book_table', arguments: { day: 'Sunday', seats: 6 } })
  t.match(talk.result('Done').text, /done/)
  t.match(talk.say('Thanks, goodbye!'), { text: /Goodbye/, call: { name: 'end_call', arguments: {} } })
})

t.test('a value out of its bounds is none, and a request is given up after three questions', async (t) => {
  const talk = new Talk()
  t.match(talk.say('Book a table for 40 on Monday.').text, /seats/)
  for (let i = 0; i < 2; i++) t.match(talk.say('I like fish.').text, /seats/)
  t.match(talk.say('I like fish.').text, /don't know/)
  t.equal(talk.say('Four.').call, undefined)
})

t.test('a request is taken back, and left for another', async (t) => {
  const talk = new Talk()
  talk.say('I want to book a table.')
  t.match(talk.say('Never mind.').text, /What would you like/)
  t.equal(talk.say('On Monday for four.').call, undefined)
  talk.say('Book a table on Monday.')
  t.match(talk.say('Where is my order 12?').call, { name: 'order_status', arguments: { order_id: '12' } })
})

t.test('the same call is made once, unless it failed', async (t) => {
  const talk = new Talk()
  const words = 'Book a table for four on Monday.'
  t.ok(talk.say(words).call)
  const { text } = talk.result('{"message":"Your table is number 7."}')
  t.equal(text, 'Your table is number 7.')
  t.same(talk.say(words), { text })
  t.ok(talk.say('Book a table for five on Monday.').call)
  t.match(talk.result('The request failed with status 503').text, /didn't work/)
  t.ok(talk.say('Book a table for five on Monday.').call)
})

t.test('in a chat, whose past holds words alone, no call is made again', async (t) => {
  const messages: Message[] = [
    { role: 'system', content: PROMPT },
    { role: 'user', content: 'Where is my order 4711?' },
    { role: 'assistant', content: 'It arrives today.' },
    { role: 'user', content: 'Thank you.' },
  ]
  const said = () => reply({ messages, tools: ALL, language: 'en', nowMs: NOW })
  t.equal(said().call, undefined)
  messages.push({ role: 'user', content: 'Where is my order 4711?' })
  t.same(said(), { text: 'It arrives today.' })
})

t.test('what a tool answered is said in a sentence', async (t) => {
  const expected: [string, string][] = [
    ['{"status":"shipped","arrives":"Monday"}', 'Status: shipped, arrives: Monday.'],
    ['"It is sunny"', 'It is sunny.'],
    ['{"ok":true}', 'That is done.'],
    ['{"ok":false,"reason":"We are full."}', "I'm sorry, that didn't work. We are full."],
    ['{"error":"no such order"}', "I'm sorry, that didn't work. no such order."],
    ['{"data":{"free":true,"at":"19:00"}}', 'Free: yes, at: 19:00.'],
    ['["Monday","Tuesday"]', 'Monday; Tuesday.'],
    ['{"id":"0197f3a2-7c1e-7000-8000-000000000003","url":"https://example.com"}', 'That is done.'],
    ['', 'That is done.'],
    ['Wrong arguments: /seats must be <= 12', "I'm sorry, that didn't work."],
    ['The caller is being transferred.', 'One moment, please.'],
    ['Nobody answers. Say to the caller: "I could not reach anyone."', 'I could not reach anyone.'],
    ['Passages from the knowledge base:\n\n[a.md] Order 1 is at the door.', 'Order 1 is at the door.'],
  ]
  for (const [content, said] of expected) {
    const talk = new Talk()
    t.ok(talk.say('Where is my order 1?').call)
    t.same(talk.result(content), { text: said }, content)
  }
})

t.test('values of every kind are taken by type and name', async (t) => {
  const one = (schema: Record<string, unknown>, said: string, name = 'value'): unknown =>
    ask(said, tool('send_quote', 'Sends a quote.', { [name]: schema }, [name])).call?.arguments[name]
  t.equal(one({ type: 'string', format: 'date' }, 'Send me the quote on Monday'), '2026-03-09')
  t.equal(one({ type: 'string' }, 'Send the quote on March 9th', 'date'), '2026-03-09')
  t.equal(one({ type: 'string' }, 'Send the quote on the 2nd of February', 'date'), '2027-02-02')
  t.equal(one({ type: 'string' }, 'Send the quote tomorrow', 'date'), '2026-03-05')
  t.equal(one({ type: 'string' }, 'Send the quote at 7 pm', 'time'), '19:00')
  t.equal(one({ type: 'string' }, 'Send the quote at half past seven in the evening', 'time'), '19:30')
  t.equal(one({ type: 'string', format: 'date-time' }, 'Send the quote on Friday at 9:15'), '2026-03-06T09:15:00')
  t.equal(
    one({ type: 'string', format: 'email' }, 'Send the quote to Anna.Smith@example.com.'),
    'anna.smith@example.com',
  )
  t.equal(one({ type: 'string' }, 'Send the quote to anna at example dot com', 'email'), 'anna@example.com')
  t.equal(one({ type: 'string' }, 'Send the quote to +1 415 555 0123', 'phone_number'), '+14155550123')
  t.equal(one({ enum: ['small', 'large', 'extra_large'] }, 'Send an extra large quote'), 'extra_large')
  t.equal(one({ type: 'number' }, 'Send a quote for twenty-one boxes'), 21)
  t.equal(one({ type: 'number' }, 'Send a quote for 2.5 tons'), 2.5)
  t.equal(one({ type: 'integer' }, 'Send a quote for 2.5 tons'), undefined)
  t.equal(one({ type: 'boolean' }, 'Send the quote without insurance', 'insurance'), false)
  t.equal(one({ type: 'boolean' }, 'Send the quote with insurance', 'insurance'), true)
  t.equal(one({ type: 'string' }, 'Send the quote to San Francisco please', 'city'), 'San Francisco')
  t.equal(one({ type: 'string' }, 'Send the quote, the colour is dark blue', 'colour'), 'dark blue')
  t.same(one({ type: 'array', items: { enum: ['red', 'blue'] } }, 'Send a quote in blue and red'), ['red', 'blue'])
  t.equal(one({ type: 'object' }, 'Send the quote'), undefined, 'a tool that needs an object is not called')
})

t.test('a question that nothing answers is looked up where a tool looks things up', async (t) => {
  const search = tool('search_documents', "Looks up the agent's documents.", { query: { type: 'string' } }, ['query'])
  const talk = new Talk([search])
  t.same(talk.say('Do you have vegan dishes?').call, {
    name: 'search_documents',
    arguments: { query: 'Do you have vegan dishes?' },
  })
  t.match(talk.result('Nothing was found.').text, /Nothing was found/)
  t.match(ask('How much is delivery?', search).text, /three euros/)
})

t.test('tools are called in six languages', async (t) => {
  const expected: Record<string, [description: string, said: string, args: Record<string, unknown>]> = {
    de: [
      'Reserviert einen Tisch.',
      'Ich möchte einen Tisch für vier Personen am Montag reservieren.',
      { day: 'Montag', seats: 4 },
    ],
    es: ['Reserva una mesa.', 'Quisiera reservar una mesa para cuatro el lunes.', { day: 'lunes', seats: 4 }],
    fr: [
      'Réserve une table.',
      'Je voudrais réserver une table pour quatre personnes lundi.',
      { day: 'lundi', seats: 4 },
    ],
    it: ['Prenota un tavolo.', 'Vorrei prenotare un tavolo per quattro persone lunedì.', { day: 'lunedì', seats: 4 }],
    pt: [
      'Reserva uma mesa.',
      'Queria reservar uma mesa para quatro pessoas na segunda-feira.',
      { day: 'segunda-feira', seats: 4 },
    ],
  }
  for (const [language, [description, said, args]] of Object.entries(expected)) {
    const talk = new Talk([{ ...BOOK, description }], language, description)
    t.same(talk.say(said).call, { name: 'book_table', arguments: args }, said)
  }
})
