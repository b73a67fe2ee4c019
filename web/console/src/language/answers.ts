/** What an answer of the API is in another language; undefined where that is not known. */
export type Translate = (answer: string) => string | undefined

/** Of whole sentences, and of those with names in braces, which stand for any words: `{name} refused the key ({status})`. */
export function translator(answers: Readonly<Record<string, string>>): Translate {
  const named = Object.entries(answers).flatMap(([english, sentence]) =>
    /\{\w+\}/.test(english) ? [[patternOf(english), sentence] as const] : [],
  )
  return (answer) => {
    if (Object.hasOwn(answers, answer)) return answers[answer]
    for (const [pattern, sentence] of named) {
      const words = pattern.exec(answer)?.groups
      if (words !== undefined) return sentence.replace(/\{(\w+)\}/g, (_, name: string) => words[name] ?? '')
    }
    return undefined
  }
}

function patternOf(english: string): RegExp {
  const parts = english
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 === 1 ? `(?<${part}>.+?)` : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
  return new RegExp(`^${parts.join('')}$`)
}
