import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import type { CollectItem } from '../../call/types/collect-item.ts'
import type { ReadingContext } from './reading.ts'

/** Parts of domains that are said as words. */
const KNOWN = new Set(
  'gmail googlemail hotmail outlook yahoo icloud live web posteo mail proton protonmail orange free libero tiscali uol bol sapo telefonica laposte wanadoo example com net org info online de at ch fr es it pt br uk'.split(
    ' ',
  ),
)
/** A word of a local part that is longer is said as it is, and spelt. */
const GROUP = 3

/** A telephone number as it is given where it was asked for: national at home, else with its country code. */
export function phoneGroups(value: string, country: string): { readonly plus: boolean; readonly groups: string[] } {
  const number = parsePhoneNumberFromString(value)
  if (number === undefined) return { plus: value.startsWith('+'), groups: digitGroups(value.replace(/\D/g, '')) }
  const isHome = number.country === country
  const formatted = isHome ? number.formatNational() : number.formatInternational()
  return {
    plus: !isHome,
    groups: formatted
      .replace(/^\+/, '')
      .split(/[^\d]+/)
      .filter(Boolean),
  }
}

/** A value as the agent reads it back, in the groups of the language. */
export function spokenValue({ type }: Pick<CollectItem, 'type'>, value: string, context: ReadingContext): string {
  const { forms, tag } = context
  switch (type) {
    case 'phone': {
      const { plus, groups } = phoneGroups(value, context.country)
      return `${plus ? `${forms.says.plus} ` : ''}${groups.map((group) => inGroup(group, forms.code)).join(', ')}`
    }
    case 'digits':
      return digitGroups(value)
        .map((group) => spaced(group))
        .join(', ')
    case 'email':
      return spokenAddress(value, context)
    case 'name':
      return `${value}: ${value.split(' ').map(spelt).join('; ')}`
    case 'date':
      return new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(`${value}T12:00:00Z`))
    case 'time': {
      const style = { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' } as const
      return new Intl.DateTimeFormat(tag, style).format(new Date(`2000-01-01T${value}:00Z`))
    }
    case 'number':
      return new Intl.NumberFormat(tag, { maximumFractionDigits: 6 }).format(Number(value))
    default:
      return value
  }
}

/** In French two digits are one number; elsewhere each digit is said by itself. */
function inGroup(group: string, code: string): string {
  return code === 'fr' && group.length === 2 ? group : spaced(group)
}

const spaced = (text: string): string => [...text].join(' ')
const spelt = (word: string): string => [...word.toUpperCase()].join(', ')

/** Groups of three, the last of two to four. */
export function digitGroups(digits: string): string[] {
  const groups: string[] = []
  let rest = digits
  while (rest.length > GROUP + 1) {
    groups.push(rest.slice(0, GROUP))
    rest = rest.slice(GROUP)
  }
  return [...groups, rest].filter(Boolean)
}

function spokenAddress(value: string, { forms }: ReadingContext): string {
  const { at, dot, dash, underscore, plus } = forms.says
  const [local = '', domain = ''] = value.split('@')
  const said = (text: string): string =>
    text
      .split(/([._+-])/)
      .filter(Boolean)
      .map(
        (part) => ({ '.': dot, '-': dash, _: underscore, '+': plus })[part] ?? (KNOWN.has(part) ? part : spelt(part)),
      )
      .join(' ')
  return `${said(local)}, ${at} ${said(domain)}`
}
