import type { JudgedSentence } from './judge.ts'
import { wilson } from './wilson.ts'

/** What a person says of a sentence that a judge has judged. */
export type Mark = 'pass' | 'fail'

/** A case whose sentences people have marked. */
export interface MarkedCase {
  judged: readonly Pick<JudgedSentence, 'sentence' | 'verdict' | 'model' | 'promptVersion'>[]
  marks: Readonly<Record<string, Mark>>
}

/** How often a judge said what people say; verdicts of different rubrics are not compared. */
export interface JudgeAgreement {
  model: string
  promptVersion: number
  /** Sentences that people marked. */
  marked: number
  agreed: number
  disagreed: number
  /** The judge gave no answer. */
  unsure: number
  /** The share of agreement among its answers lies between these, with 95 % confidence. */
  low: number
  high: number
}

/** Of each judge, the one with the most marks first. */
export function judgeAgreement(cases: readonly MarkedCase[]): JudgeAgreement[] {
  const judges = new Map<string, JudgeAgreement>()
  for (const { judged, marks } of cases) {
    for (const { sentence, verdict, model, promptVersion } of judged) {
      const mark = Object.hasOwn(marks, sentence) ? marks[sentence] : undefined
      if (mark === undefined) continue
      const key = JSON.stringify([model, promptVersion])
      const one = judges.get(key) ?? {
        ...{ model, promptVersion, marked: 0, agreed: 0, disagreed: 0, unsure: 0, low: 0, high: 1 },
      }
      one.marked++
      if (verdict === 'unsure') one.unsure++
      else if (verdict === mark) one.agreed++
      else one.disagreed++
      judges.set(key, one)
    }
  }
  return [...judges.values()]
    .map((one) => ({ ...one, ...wilson(one.agreed, one.agreed + one.disagreed) }))
    .sort((a, b) => b.marked - a.marked)
}
