import type { Random } from './random.ts'

/** Hostile values: what parsers, databases, regular expressions and loops have failed on before. */

const TOKENS = [
  '\ud83d',
  '\udc00',
  '\udc00\ud83d',
  '\u0000',
  '\u202e',
  '\ufeff',
  '\r\n',
  '\n\n',
  '{{a}}',
  '{{',
  '}}',
  'a=crypto:',
  '<',
  '>',
  '<<a>',
  '&#x0;',
  '"',
  "'",
  '\\',
  '\\u0000',
  '%00',
  '%ud83d',
  '../',
  ';',
  ',',
  '=',
  '(',
  '[',
  '**',
  '`',
  '# ',
  '. ',
  '! ',
  ' ',
  '\t',
  'é',
  'ﬁ',
  '😀',
  '1e999',
  '-0',
  '__proto__',
  'constructor',
  "';--",
] as const
const LENGTHS = [0, 1, 2, 100, 4_000, 4_001, 16_000, 65_536, 90_000] as const
const NUMBERS = [0, -1, 1, 0.5, 255, 256, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e308, -1e308] as const
const DEPTHS = [10, 100, 1_000, 5_000] as const
/** What one message may weigh: larger ones are refused before anything reads them. */
const MAX_TEXT_CHARACTERS = 200_000

/** Text that is too long, ill-formed or full of a token that some parser gives a meaning. */
export function hostileText(random: Random, maxCharacters = MAX_TEXT_CHARACTERS): string {
  const token = random.pick(TOKENS)
  const other = random.pick(TOKENS)
  const length = Math.min(random.pick(LENGTHS), maxCharacters)
  switch (random.below(5)) {
    case 0:
      return token
    case 1:
      return `hello ${token}${other} there`
    case 2:
      return (token + other).repeat(Math.ceil(length / (token.length + other.length))).slice(0, length)
    case 3:
      return token.repeat(Math.ceil(length / token.length)).slice(0, length) + other
    default:
      return Array.from({ length: random.below(200) }, () => random.pick(TOKENS)).join('')
  }
}

/** A JSON value of any kind; text of JSON, since values nested so deep can't be written by `JSON.stringify`. */
export function hostileJson(random: Random): string {
  switch (random.below(8)) {
    case 0:
      return JSON.stringify(hostileText(random))
    case 1:
      return String(random.pick(NUMBERS))
    case 2:
      return random.pick(['null', 'true', 'false', '[]', '{}', '""', '{"__proto__":{"a":1}}'])
    case 3: {
      const depth = random.pick(DEPTHS)
      return `${'['.repeat(depth)}${']'.repeat(depth)}`
    }
    case 4: {
      const depth = random.pick(DEPTHS)
      return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    }
    case 5:
      return `[${Array.from({ length: random.below(3_000) }, () => '{}').join()}]`
    case 6:
      return `{${Array.from({ length: random.below(3_000) }, (_, i) => `"k${i}":${i}`).join()}}`
    default:
      return random.pick(['"\\ud83d"', '"\\u0000"', '{"\\ud83d":"\\u0000"}', '1e999', '[1,', '{"a"', 'nul', '"'])
  }
}

/** The JSON of `value` with some of its fields replaced, left out, doubled or added. */
export function mutatedJson(random: Random, value: unknown, rate = 0.25): string {
  if (random.chance(rate / 4)) return hostileJson(random)
  if (Array.isArray(value)) return `[${value.map((item) => mutatedJson(random, item, rate)).join()}]`
  if (typeof value === 'object' && value !== null) {
    const fields: string[] = []
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined || random.chance(rate / 4)) continue
      const text = random.chance(rate) ? hostileJson(random) : mutatedJson(random, field, rate)
      fields.push(`${JSON.stringify(name)}:${text}`)
      if (random.chance(rate / 8)) fields.push(`${JSON.stringify(name)}:${hostileJson(random)}`)
    }
    if (random.chance(rate / 4)) fields.push(`${JSON.stringify(hostileText(random, 1_000))}:${hostileJson(random)}`)
    return `{${fields.join()}}`
  }
  if (typeof value === 'string' && random.chance(rate)) return JSON.stringify(hostileText(random))
  return JSON.stringify(value) ?? 'null'
}

/** The bytes with some flipped, cut, doubled, moved or put in. */
export function mutatedBytes(random: Random, bytes: Uint8Array, times = 1 + random.below(8)): Buffer {
  let result = Buffer.from(bytes)
  for (let i = 0; i < times; i++) {
    const at = random.below(result.length + 1)
    switch (random.below(6)) {
      case 0:
        if (result.length > 0) result[at % result.length] = random.below(256)
        break
      case 1:
        result = result.subarray(0, at)
        break
      case 2: {
        const from = random.below(result.length + 1)
        const piece = result.subarray(from, from + random.below(200))
        result = Buffer.concat([result.subarray(0, at), piece, result.subarray(at)])
        break
      }
      case 3:
        result = Buffer.concat([result.subarray(0, at), random.bytes(random.below(20)), result.subarray(at)])
        break
      case 4:
        result = Buffer.concat([result.subarray(0, at), Buffer.from(hostileText(random, 20_000)), result.subarray(at)])
        break
      default:
        if (result.length > 1) result.writeUInt16BE(random.pick([0, 1, 0x7fff, 0xffff]), at % (result.length - 1))
    }
  }
  return result
}

/** The lines with some mutated, left out, doubled or put elsewhere: for protocols of header lines. */
export function mutatedLines(random: Random, lines: readonly string[], maxCharacters = 60_000): string {
  const result: string[] = []
  for (const line of lines) {
    if (random.chance(0.04)) continue
    if (random.chance(0.08)) result.push(mutatedLine(random, line))
    else result.push(line)
    if (random.chance(0.04)) result.push(random.chance(0.5) ? line : mutatedLine(random, line))
  }
  return result.join(random.chance(0.95) ? '\r\n' : '\n').slice(0, maxCharacters)
}

function mutatedLine(random: Random, line: string): string {
  const colon = line.search(/[:=]/) + 1
  const text = hostileText(random, 60_000)
  switch (random.below(4)) {
    case 0:
      return line.slice(0, colon) + text
    case 1:
      return line.slice(0, random.below(line.length + 1)) + text + line.slice(random.below(line.length + 1))
    case 2:
      return line.repeat(1 + random.below(50))
    default:
      return line.replace(/\d+/g, () => String(random.pick(NUMBERS)))
  }
}
