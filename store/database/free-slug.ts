/** Lowercase, transliterated, hyphens; never empty and no longer than 60 characters. */
export function slugOf(name: string, otherwise: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[æœøłđð]/g, (letter) => TRANSLITERATED[letter] ?? letter)
    .replace(/[\u0300-\u036f'’]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? otherwise : slug
}

const TRANSLITERATED: Readonly<Record<string, string>> = { æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd' }

/** `base`, or with the next number: `-2`, `-3`. */
export function freeSlug(base: string, taken: readonly string[]): string {
  let highest = 0
  for (const slug of taken) {
    const number = slug === base ? 1 : slug.startsWith(`${base}-`) ? Number(slug.slice(base.length + 1)) : 0
    if (Number.isSafeInteger(number) && number > highest) highest = number
  }
  return highest === 0 ? base : `${base}-${highest + 1}`
}
