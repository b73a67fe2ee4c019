import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Message, Tool } from '../../../../packages/plugin/mod.ts'
import { DemoBackend } from '../../../../plugins/demo/backend.ts'
import { TOOLS } from '../../../../plugins/demo/tools.ts'
import { reply } from '../../../../plugins/offline/reply.ts'

/** The sample agents of the console, without a key: what callers say, and what the demo does of it. */

const SAMPLES = join(import.meta.dirname, '../../../../web/console/src/screens/agent-samples')
const read = (file: string) => JSON.parse(readFileSync(join(SAMPLES, file), 'utf8'))
const TRADE_TOOLS: Readonly<Record<string, readonly string[]>> = read('tools.json')
/** A Wednesday. */
const NOW = Date.parse('2026-03-04T10:00:00Z')
const END: Tool = {
  name: 'end_call',
  description: 'Ends the call when the caller has said goodbye.',
  parameters: { type: 'object', properties: {} },
}

interface Talk {
  readonly front_desk: readonly string[]
  readonly bookings: readonly string[]
  readonly support: readonly string[]
  readonly survey: readonly string[]
  /** In the last answer of each. */
  readonly last: readonly [string, string, string, string]
}

const TALKS: Readonly<Record<string, Talk>> = {
  en: {
    front_desk: [
      'Do you have a free room on Friday?',
      'I would like to book a double room for Friday',
      'Two nights',
      'My name is Ada Smith',
    ],
    bookings: ['Yes please', 'A haircut', 'On Saturday', 'At eleven', 'Ada Smith'],
    support: ['Can you check my line?', 'My customer number is 4711', 'Please send a technician on Monday', '4711'],
    survey: ['Yes, sure', 'Nine', 'The breakfast', 'The wifi'],
    last: [
      'double room for Ada Smith is booked',
      'haircut, on Saturday, March 7',
      'technician comes on Monday',
      'Thank you very much',
    ],
  },
  de: {
    front_desk: [
      'Haben Sie am Freitag noch ein Zimmer frei?',
      'Ich möchte für Freitag ein Doppelzimmer buchen',
      'Zwei Nächte',
      'Mein Name ist Ada Schmidt',
    ],
    bookings: ['Ja, gern', 'Einen Haarschnitt', 'Am Samstag', 'Um elf Uhr', 'Ada Schmidt'],
    support: [
      'Können Sie meine Leitung prüfen?',
      'Meine Kundennummer ist 4711',
      'Bitte bestellen Sie einen Techniker für Montag',
      '4711',
    ],
    survey: ['Ja, gern', 'Neun', 'Das Frühstück', 'Das WLAN'],
    last: [
      'Doppelzimmer für Ada Schmidt ist ab Freitag',
      'Haarschnitt am Samstag, 7. März',
      'Techniker kommt am Montag',
      'Vielen Dank',
    ],
  },
  fr: {
    front_desk: [
      'Avez-vous une chambre libre vendredi ?',
      'Je voudrais réserver une chambre double pour vendredi',
      'Deux nuits',
      "Je m'appelle Ada Martin",
    ],
    bookings: ['Oui, volontiers', 'Une coupe', 'Samedi', 'À onze heures', 'Ada Martin'],
    support: [
      'Pouvez-vous vérifier ma ligne ?',
      'Mon numéro de client est 4711',
      "Envoyez un technicien lundi, s'il vous plaît",
      '4711',
    ],
    survey: ['Oui', 'Neuf', 'Le petit déjeuner', 'Le wifi'],
    last: [
      'chambre double au nom de Ada Martin',
      'coupe, le samedi 7 mars',
      'technicien vient le lundi',
      'Merci beaucoup',
    ],
  },
  es: {
    front_desk: [
      '¿Tienen habitaciones libres el viernes?',
      'Quiero reservar una habitación doble para el viernes',
      'Dos noches',
      'Me llamo Ada García',
    ],
    bookings: ['Sí, por favor', 'Un corte', 'El sábado', 'A las once', 'Ada García'],
    support: [
      '¿Puede comprobar mi línea?',
      'Mi número de cliente es 4711',
      'Envíe un técnico el lunes, por favor',
      '4711',
    ],
    survey: ['Sí, claro', 'Nueve', 'El desayuno', 'El wifi'],
    last: [
      'habitación doble a nombre de Ada García',
      'corte, el sábado, 7 de marzo',
      'técnico viene el lunes',
      'Muchas gracias',
    ],
  },
  it: {
    front_desk: [
      'Avete camere libere venerdì?',
      'Vorrei prenotare una camera doppia per venerdì',
      'Due notti',
      'Mi chiamo Ada Rossi',
    ],
    bookings: ['Sì, certo', 'Un taglio', 'Sabato', 'Alle undici', 'Ada Rossi'],
    support: [
      'Può controllare la mia linea?',
      'Il mio numero cliente è 4711',
      'Mandi un tecnico lunedì, per favore',
      '4711',
    ],
    survey: ['Sì', 'Nove', 'La colazione', 'Il wifi'],
    last: ['camera doppia a nome di Ada Rossi', 'taglio, sabato 7 marzo', 'tecnico viene lunedì', 'Grazie mille'],
  },
  pt: {
    front_desk: [
      'Têm quartos livres na sexta-feira?',
      'Queria reservar um quarto duplo para sexta-feira',
      'Duas noites',
      'Chamo-me Ada Silva',
    ],
    bookings: ['Sim, por favor', 'Um corte', 'No sábado', 'Às onze horas', 'Ada Silva'],
    support: [
      'Pode verificar a minha linha?',
      'O meu número de cliente é 4711',
      'Envie um técnico na segunda-feira, por favor',
      '4711',
    ],
    survey: ['Sim', 'Nove', 'O pequeno-almoço', 'O wifi'],
    last: [
      'quarto duplo em nome de Ada Silva',
      'corte, sábado, 7 de março',
      'técnico vem segunda-feira',
      'Muito obrigado',
    ],
  },
}

/** The agent's answers, and the tools it called. */
function converse(language: string, trade: string, lines: readonly string[]) {
  const { system_prompt, first_message } = read(`${language}.json`)[trade]
  const names = TRADE_TOOLS[trade]?.map((name) => `${name}_${language}`) ?? []
  const tools = [...TOOLS.filter(({ name }) => names.includes(name)), END]
  const backend = new DemoBackend(() => NOW)
  const messages: Message[] = [
    { role: 'system', content: system_prompt },
    { role: 'assistant', content: first_message },
  ]
  const called: string[] = []
  const answers: string[] = []
  const answer = () => reply({ messages, tools, language, nowMs: NOW })
  for (const content of lines) {
    messages.push({ role: 'user', content })
    let said = answer()
    if (said.call !== undefined && said.call.name !== END.name) {
      const { name, arguments: input } = said.call
      called.push(name)
      messages.push({
        ...{ role: 'tool_result', id: name, name },
        content: JSON.stringify(backend.call({ name, input, workspaceId: 'w' })),
      })
      said = answer()
      messages.pop()
    }
    answers.push(said.text ?? '')
    messages.push({ role: 'assistant', content: said.text ?? '' })
  }
  return { called, answers, names }
}

for (const [language, talk] of Object.entries(TALKS)) {
  for (const [at, trade] of (['front_desk', 'bookings', 'support', 'survey'] as const).entries()) {
    t.test(`the sample agent ${trade} does what its callers want, in ${language}`, async (t) => {
      const { called, answers, names } = converse(language, trade, talk[trade])
      t.match(answers.at(-1), talk.last[at], answers.join(' / '))
      // A caller of the salon books at once.
      t.same(called, trade === 'bookings' ? names.slice(1) : names)
    })
  }
}

t.test('a goodbye ends the call of a sample agent', async (t) => {
  const tools = [...TOOLS.filter(({ name }) => name === 'save_answers_en'), END]
  const messages: Message[] = [
    { role: 'system', content: 'You ask questions.' },
    { role: 'user', content: 'No, goodbye.' },
  ]
  t.match(reply({ messages, tools, language: 'en', nowMs: NOW }), { call: { name: 'end_call' } })
})
