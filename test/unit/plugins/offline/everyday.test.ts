import t from 'tap'
import { answer } from '../../../../plugins/offline/answer.ts'
import { LANGUAGES } from '../../../../plugins/offline/languages/index.ts'
import TABLE from './everyday.json' with { type: 'json' }

/** Right answers of a hundred; the last prompts were written after the words and never tuned to. */
const LEAST_RIGHT = 90
const UNKNOWN = new Set(LANGUAGES.map(({ say }) => say.unknown))

for (const { code } of LANGUAGES) {
  t.test(`everyday questions in ${code} are answered by what the prompt says, and by nothing else`, async (t) => {
    const cases = TABLE.filter(({ language }) => language === code)
    const wrong: string[] = []
    let count = 0
    for (const { prompt, answers, unknown, language } of cases) {
      const ask = (text: string) => answer({ sources: [prompt], turns: [{ role: 'user', text }], language })
      count += answers.length
      for (const [question = '', part = ''] of answers) {
        const said = ask(question)
        if (!said.includes(part)) wrong.push(`${question} → ${said}`)
      }
      for (const question of unknown) t.ok(UNKNOWN.has(ask(question)), `${question} → ${ask(question)}`)
    }
    t.ok(100 * (count - wrong.length) >= LEAST_RIGHT * count, `${count - wrong.length} of ${count}`, { wrong })
  })
}
