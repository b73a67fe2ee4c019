const MAX_RANGES = 50

/**
 * The first language of `known` that the header `Accept-Language` (RFC 9110, 12.5.4) asks for, by its weights, whatever the
 * region; undefined where it asks for none of them.
 */
export function acceptedLanguage<const L extends string>(header: string, known: readonly L[]): L | undefined {
  return header
    .split(',', MAX_RANGES)
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1'
      return { language: known.find((one) => one === tag.split('-')[0]), weight: Number(weight) }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
    .find(({ language }) => language !== undefined)?.language
}
