/**
 * The marks that models put around their thinking where the server doesn't take it out: DeepSeek, Qwen and most others
 * (`<think>`), Magistral (`[THINK]`), gpt-oss (channels), Kimi, Seed-OSS, Command A, OpenThinker, MedGemma.
 */
const PAIRS: readonly (readonly [begin: string, end: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<thoughts>', '</thoughts>'],
  ['<reasoning>', '</reasoning>'],
  ['<reflection>', '</reflection>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<seed:think>', '</seed:think>'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
  ['<unused94>', '<unused95>'],
  ['<|channel|>analysis', '<|channel|>final<|message|>'],
  ['<|channel|>commentary', '<|channel|>final<|message|>'],
]
/** Marks of an answer, which mean nothing to a caller. */
const DROPPED = [
  ...['<|START_RESPONSE|>', '<|END_RESPONSE|>', '<|begin_of_solution|>', '<|end_of_solution|>'],
  ...['<|channel|>final<|message|>', '<|start|>assistant', '<|end|>', '<|return|>', '<|im_end|>'],
]
const BEGINS = [...PAIRS.map(([begin]) => begin), ...PAIRS.map(([, end]) => end), ...DROPPED]
/** The longest first: `<think>` is the head of none of them, `<|channel|>final` is. */
const MARKS = [...new Set(BEGINS)].sort((a, b) => b.length - a.length)
/** Models whose chat template opens the thinking itself, so that only its end is in the answer. */
const BEGINS_IN_THOUGHT = /deepseek-?r1|r1-distill|\bqwq\b|thinking|nemotron.*reason|olmo.*think|magistral.*think/i

/** Whether a model's answer may begin in the middle of its thoughts. */
export function beginsInThought(model: string): boolean {
  return BEGINS_IN_THOUGHT.test(model)
}

/** Takes a model's thoughts out of its answer as it streams. What may be the beginning of a mark is held back. */
export class ThoughtFilter {
  #held = ''
  #end: string | undefined
  /** What came before it was known whether it is a thought. */
  #undecided: string | undefined
  /** Thoughts came among the words: the server was started without its reasoning parser. */
  foundThoughts = false

  /** @param inThought the answer may begin with thoughts that have an end alone */
  constructor(inThought: boolean) {
    if (inThought) this.#undecided = ''
  }

  push(text: string): string {
    this.#held += text
    let out = ''
    for (;;) {
      const end = this.#end
      if (end !== undefined) {
        const at = this.#held.indexOf(end)
        if (at === -1) {
          this.#held = this.#held.slice(-end.length)
          return out
        }
        this.#held = this.#held.slice(at + end.length).trimStart()
        this.#end = undefined
        continue
      }
      const found = firstMark(this.#held)
      if (found === undefined) {
        const keep = openMark(this.#held)
        out += this.#decide(this.#held.slice(0, this.#held.length - keep))
        this.#held = keep === 0 ? '' : this.#held.slice(-keep)
        return out
      }
      const { at, mark } = found
      const words = this.#held.slice(0, at)
      this.#held = this.#held.slice(at + mark.length)
      const pair = PAIRS.find(([begin]) => begin === mark)
      if (pair !== undefined) {
        this.foundThoughts = true
        out += this.#decide(words)
        this.#end = pair[1]
      } else if (PAIRS.some(([, end]) => end === mark) && !DROPPED.includes(mark)) {
        this.foundThoughts = true
        // What came before the end of a thought that never began is the thought, unless it was heard already.
        if (this.#undecided === undefined) out += words
        this.#undecided = undefined
        this.#held = this.#held.trimStart()
      } else out += this.#decide(words)
    }
  }

  /** What is left once the answer is over. */
  flush(): string {
    if (this.#end !== undefined) return ''
    const rest = `${this.#undecided ?? ''}${this.#held}`
    this.#held = ''
    this.#undecided = undefined
    return rest
  }

  #decide(words: string): string {
    if (this.#undecided === undefined) return words
    this.#undecided += words
    return ''
  }
}

function firstMark(text: string): { at: number; mark: string } | undefined {
  let first: { at: number; mark: string } | undefined
  for (const mark of MARKS) {
    const at = text.indexOf(mark)
    if (at !== -1 && (first === undefined || at < first.at)) first = { at, mark }
  }
  return first
}

/** Characters at the end that may be the beginning of a mark. */
function openMark(text: string): number {
  const longest = MARKS[0]?.length ?? 0
  for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
    const tail = text.slice(-length)
    if (MARKS.some((mark) => mark.startsWith(tail))) return length
  }
  return 0
}
