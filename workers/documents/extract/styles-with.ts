const STYLE = /<w:style\s(?:(?!<\/?w:style[\s>])[\s\S])*<\/w:style>/g

/** Ids of the styles of a Word file (ECMA-376, part 1, 17.7) that match by their XML. */
export function stylesWith(styles: string, matches: (style: string) => boolean): ReadonlySet<string> {
  const found = styles.match(STYLE) ?? []
  return new Set(found.filter(matches).map((style) => /w:styleId="([^"]*)"/.exec(style)?.[1] ?? ''))
}
