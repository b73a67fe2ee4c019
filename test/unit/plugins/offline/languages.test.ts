import t from 'tap'
import { answer } from '../../../../plugins/offline/answer.ts'
import { LANGUAGES } from '../../../../plugins/offline/languages/index.ts'
import { scriptOf } from '../../../../scripts/demo/script.ts'

const SHOPS: Readonly<Record<string, { prompt: string; asks: [question: string, part: RegExp][] }>> = {
  en: {
    prompt: 'You are Ava. On Saturdays we open at ten in the morning. Delivery costs three euros.',
    asks: [
      ['What time do you open on Saturday?', /ten/],
      ['How much does delivery cost?', /three euros/],
    ],
  },
  de: {
    prompt: 'Sie sind Ava. Am Samstag öffnen wir um zehn Uhr. Die Lieferung kostet drei Euro.',
    asks: [
      ['Wann öffnen Sie am Samstag?', /zehn Uhr/],
      ['Wie viel kostet die Lieferung?', /drei Euro/],
    ],
  },
  es: {
    prompt: 'Eres Ava. Los sábados abrimos a las diez. El envío cuesta tres euros.',
    asks: [
      ['¿A qué hora abren el sábado?', /diez/],
      ['¿Cuánto cuesta el envío?', /tres euros/],
    ],
  },
  fr: {
    prompt: 'Vous êtes Ava. Le samedi nous ouvrons à dix heures. La livraison coûte trois euros.',
    asks: [
      ['À quelle heure ouvrez-vous le samedi ?', /dix/],
      ['Combien coûte la livraison ?', /trois euros/],
    ],
  },
  it: {
    prompt: 'Sei Ava. Il sabato apriamo alle dieci. La consegna costa tre euro.',
    asks: [
      ['A che ora aprite il sabato?', /dieci/],
      ['Quanto costa la consegna?', /tre euro/],
    ],
  },
  pt: {
    prompt: 'Você é Ava. No sábado abrimos às dez. A entrega custa três euros.',
    asks: [
      ['A que horas abrem no sábado?', /dez/],
      ['Quanto custa a entrega?', /três euros/],
    ],
  },
}

for (const { code, say } of LANGUAGES) {
  t.test(`questions are answered in ${code}`, async (t) => {
    const shop = SHOPS[code]
    const sources = [`${shop?.prompt}\n\nAnswer in the language the caller speaks.`]
    const ask = (text: string, language?: string) => answer({ sources, turns: [{ role: 'user', text }], language })
    for (const [question, part] of shop?.asks ?? []) {
      t.match(ask(question, code), part, question)
      t.match(ask(question, 'multi'), part, `${question} of an agent that follows`)
    }
    t.equal(ask('Xyzzy plugh', code), say.unknown)
  })
}

t.test('the demo’s questions are answered in every language it speaks, and as the caller changes it', async (t) => {
  for (const language of ['en', 'de', 'es', 'fr', 'it', 'pt', 'multi']) {
    const { agent, questions } = scriptOf(language)
    for (const { text, expects } of questions) {
      const said = answer({ sources: [agent.system_prompt], turns: [{ role: 'user', text }], language })
      t.ok(said.includes(expects), `${language}: ${text} → ${said}`)
    }
  }
  t.throws(() => scriptOf('xx'), /--language knows en, de/)
})
