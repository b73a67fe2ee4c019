import type { Reading, ReadingContext } from './reading.ts'
import { type SpeltPart, speltParts } from './spelt-parts.ts'
import { strippedOf, type Token, textOf } from './tokens.ts'

const WRITTEN = /[\p{L}\p{N}][\p{L}\p{N}._+-]*@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/u
const WHOLE = /^[a-z0-9](?:[a-z0-9._+-]{0,62}[a-z0-9])?@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}$/
/** Behind one of them an address is over. */
const ENDINGS = new Set(
  'com org net info biz edu gov io dev app de at ch fr es it pt br eu uk nl be pl se tr jp in us ca mx ar cl co me cat online email cloud ai'.split(
    ' ',
  ),
)

/** An e-mail address as it is spoken: words, spelt letters, names of marks. */
export function readEmail(tokens: readonly Token[], { forms }: ReadingContext): Reading | undefined {
  const rest = strippedOf(tokens, forms)
  const written = WRITTEN.exec(textOf(rest))?.[0]
  if (written !== undefined && isWhole(written.toLowerCase()) && !/\s/.test(textOf(rest).split('@')[0] ?? ''))
    return { value: written.toLowerCase(), confidence: 0.95, complete: false }
  const parts = speltParts(rest, forms)
  const at = parts.findIndex(({ kind }) => kind === 'at')
  if (at < 1) return undefined
  const local = joined(parts.slice(0, at)).replace(/^[._+-]+|[._+-]+$/g, '')
  const domain = domainOf(parts.slice(at + 1))
  const value = `${local}@${domain}`
  if (!isWhole(value)) return undefined
  const isSpelt = parts.slice(0, at).every(({ kind }) => kind !== 'word')
  return { value, confidence: isSpelt ? 0.9 : 0.75, complete: false }
}

const isWhole = (value: string): boolean => WHOLE.test(value) && !value.includes('..')

const joined = (parts: readonly SpeltPart[]): string => parts.map(({ text }) => text).join('')

/** What stands behind the @, to the end of the top-level domain. */
function domainOf(parts: readonly SpeltPart[]): string {
  let domain = ''
  for (const [i, { kind, text }] of parts.entries()) {
    const label = domain.split('.').at(-1) ?? ''
    const isOver = domain.includes('.') && ENDINGS.has(label) && kind !== 'dot' && kind !== 'dash'
    // Letters of a longer ending follow: "c o" before "m".
    const goesOn = kind === 'letter' && parts[i - 1]?.kind === 'letter' && ENDINGS.has(label + text)
    if (isOver && !goesOn) break
    domain += text
  }
  return domain.replace(/[.-]+$/, '')
}
