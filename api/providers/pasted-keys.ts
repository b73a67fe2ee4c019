import type { KeyValues } from '../../runtime/plugin/stored-keys.ts'
import type { NewKey } from '../../store/accounts/provider-keys.ts'
import type { ProviderKeyBook } from '../../workers/provider-keys.ts'
import { type Fault, ValidationError } from '../schema.ts'

/** Keys as people paste them. */

/** Of a longer key the last characters are shown. */
const HINT_CHARS = 4
const SHOWS_HINT_FROM = 12

/** As they are written down: sealed, and with the end of a key by which people know it, which is empty for short ones. */
export function newValues(box: Pick<ProviderKeyBook, 'seal'>, values: KeyValues): NewKey['values'] {
  return Object.entries(values).map(([variable, value]) => ({
    variable,
    hint: value.length < SHOWS_HINT_FROM ? '' : value.slice(-HINT_CHARS),
    seal: (id) => box.seal(id, value),
  }))
}

/**
 * The values without the spaces that come with pasting. Throws ValidationError.
 * @param known the variables that the provider has
 * @param refusal why a variable can't be set here; undefined: it can
 */
export function pastedKeys(
  given: KeyValues,
  known: readonly string[],
  refusal: (variable: string) => string | undefined = () => undefined,
): KeyValues {
  const trimmed = Object.entries(given).map(([variable, value]) => [variable, value.trim()] as const)
  const faults = trimmed.flatMap(([variable, value]): Fault[] => {
    const msg = known.includes(variable)
      ? (refusal(variable) ??
        (/^[\x21-\x7e]+$/.test(value) ? undefined : 'must be printable ASCII characters without spaces'))
      : `is no variable of this provider; there are ${known.join(', ')}`
    return msg === undefined ? [] : [{ loc: ['body', 'keys', variable], msg, type: 'value_error' }]
  })
  if (trimmed.length === 0) faults.push({ loc: ['body', 'keys'], msg: 'must name a variable', type: 'value_error' })
  if (faults.length > 0) throw new ValidationError(faults)
  return Object.fromEntries(trimmed)
}
