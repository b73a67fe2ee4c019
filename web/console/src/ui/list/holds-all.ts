/** Whether every word, or its digits as part of a number, is in one of the texts. */
export function holdsAll(texts: readonly string[], sought: string): boolean {
  const small = texts.map((text) => text.toLowerCase())
  const digits = sought.replace(/\D/g, '')
  if (digits !== '' && !/[^\d\s()+./-]/.test(sought))
    return small.some((text) => text.replace(/\D/g, '').includes(digits))
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  return words.every((word) => small.some((text) => text.includes(word)))
}
