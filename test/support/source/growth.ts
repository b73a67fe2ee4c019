import type { Test } from 'tap'

/** What anybody may repeat, and what is apart from it before and behind. */
/** Those that mean something to most. */
const FEW = [' ', 'a', '\n', '1']
const COMMON = [
  ' ',
  '\n',
  '\r\n',
  '\t',
  'a',
  'A',
  '1',
  '.',
  ',',
  ';',
  ':',
  '"',
  '\\',
  '<',
  '>',
  '(',
  '[',
  ']',
  '{',
  '=',
  '%',
  '@',
  '-',
  '*',
  '!',
  "'",
  '|',
  '+',
  'é',
]
/** Letters of the shorter input; the longer one has four times as many. */
const SHORT = 4_096
const GROWTH = 4
/** Less than this is quick whatever it grows with. */
const FLOOR_MS = 12
/** Four times the input takes four times as long; sixteen times where it is quadratic. */
const MOST_GROWTH = 9
/** A look at each once shows growth that is far from it; only what is near is measured again. */
const CLEARLY_LESS = 6
const TRIES = 5

/** `GROWTH=all`: every pair of everything, for a look of some minutes. */
const isThorough = process.env.GROWTH === 'all'

/** Inputs of about `length` letters: each token and each pair of them repeated, in a row and nested, with another end. */
function* inputsOf(tokens: readonly string[], length: number): Generator<{ name: string; text: string }> {
  const many = (token: string, share = 1) => token.repeat(Math.max(1, Math.floor((length * share) / token.length)))
  for (const token of tokens) {
    yield { name: JSON.stringify(token), text: many(token) }
    yield { name: `${JSON.stringify(token)} and an end`, text: `x${many(token)}x` }
  }
  for (const a of isThorough ? tokens : tokens.slice(0, 4)) {
    for (const b of tokens) {
      if (a === b || a.length + b.length > length) continue
      yield { name: `${JSON.stringify(a + b)} in turns`, text: `${many(a + b)}x` }
      if (isThorough)
        yield { name: `${JSON.stringify(a)} then ${JSON.stringify(b)}`, text: `${many(a, 0.5)}${many(b, 0.5)}x` }
    }
  }
}

async function bestMs(run: (text: string) => unknown, text: string, runs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < runs; i++) {
    const before = process.cpuUsage()
    try {
      await run(text)
    } catch {
      // It was refused.
    }
    // Of the processor: other processes of a busy machine count nothing.
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1_000)
  }
  return best
}

export interface GrowthOptions {
  /** What means something to the function, beside what is common. */
  tokens?: readonly string[]
  /** Makes its input of a text that is repeated. */
  wrap?: (text: string) => string
  /** The longest it is given. */
  most?: number
}

/** Fails where four times the input takes the function much more than four times as long, whatever is repeated in it. */
export async function growsWithItsInput(
  t: Test,
  name: string,
  run: (text: string) => unknown,
  { tokens = [], wrap = (text) => text, most = SHORT * GROWTH }: GrowthOptions = {},
): Promise<void> {
  const all = isThorough || tokens.length === 0 ? COMMON : FEW
  const repeated = [...new Set([...tokens, ...all])]
  const short = most / GROWTH
  const inputs = inputsOf(repeated, most)
  const shorts = inputsOf(repeated, short)
  const found: string[] = []
  for (const { name: what, text } of inputs) {
    const less = shorts.next().value?.text ?? ''
    const long = wrap(text)
    const firstMs = await bestMs(run, long, 1)
    if (firstMs < FLOOR_MS || firstMs / (await bestMs(run, wrap(less), 1)) < CLEARLY_LESS) continue
    let growth = Number.POSITIVE_INFINITY
    let tookMs = 0
    for (let i = 0; i < TRIES && growth > MOST_GROWTH; i++) {
      tookMs = await bestMs(run, long, 3 + i)
      growth = tookMs < FLOOR_MS ? 0 : tookMs / Math.max(await bestMs(run, wrap(less), 3), 0.1)
    }
    if (growth > MOST_GROWTH) found.push(`${what}: ${growth.toFixed(0)} times as long, ${tookMs.toFixed(0)} ms`)
    if (found.length >= 8) break
  }
  t.same(found, [], `${name} takes time that grows with its input`)
}
