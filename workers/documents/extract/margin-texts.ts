/** Headers and footers of a Word file (ECMA-376, part 1, 17.10). */

const REFERENCE = /<w:(header|footer)Reference\s[^<>]*>/g
const RELATION = /<Relationship\s[^<>]*>/g
const ROOT = /^(?:<\?[\s\S]*?\?>|\s)*<w:(?:hdr|ftr)(\s[^<>]*)?>([\s\S]*)<\/w:(?:hdr|ftr)>\s*$/
const TEXT = /<w:t(?:\s[^<>]*)?>([^<]*)/g
/** Numbers of pages, which belong to a page and to nothing that is searched for; simple fields, and what stands between the marks of others. */
const PAGE_NUMBER =
  /<w:fldSimple\s[^<>]*w:instr="\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b[^"]*"[^<>]*>(?:(?!<\/w:fldSimple>)[\s\S])*<\/w:fldSimple>/g
const FIELD =
  /<w:fldChar\s[^<>]*w:fldCharType="begin"(?:(?!w:fldCharType="(?:begin|end)")[\s\S])*<w:instrText[^<>]*>\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b(?:(?!w:fldCharType="(?:begin|end)")[\s\S])*w:fldCharType="end"/g
/** Pictures, whose relations are the part's own. */
const PICTURE = /<(?:a:blip|v:imagedata)\s[^<>]*\/>/g
const RELATED = /\sr:(?:id|embed|link|pict)="[^"]*"/g
const MAX_PARTS = 20

/**
 * The paragraphs of the headers and footers that a body shows, each text once.
 * @param read gives a part's XML by its path
 */
export function marginTexts(
  body: string,
  relations: string,
  read: (part: string) => string,
): { headers: string; footers: string } {
  const targets = new Map<string, string>()
  for (const [relation] of relations.matchAll(RELATION)) {
    targets.set(attribute(relation, 'Id'), attribute(relation, 'Target').replace(/^\/?(?:word\/)?/, 'word/'))
  }
  const found = { header: '', footer: '' }
  const seen = new Set<string>()
  const parts = new Map<string, string>()
  for (const [reference, kind = ''] of body.matchAll(REFERENCE)) {
    const target = targets.get(attribute(reference, 'r:id'))
    if (target !== undefined && parts.size < MAX_PARTS) parts.set(target, kind)
  }
  for (const [part, kind] of parts) {
    const [, attributes = '', content = ''] = ROOT.exec(read(part)) ?? []
    const shown = content
      .replace(PAGE_NUMBER, '')
      .replace(FIELD, shownOfField)
      .replace(PICTURE, '')
      .replace(RELATED, '')
    const text = [...shown.matchAll(TEXT)].map(([, words]) => words).join('')
    if (!/[\p{L}\p{N}]/u.test(text) || seen.has(text)) continue
    seen.add(text)
    const names = (attributes.match(/\sxmlns:\w+="[^"]*"/g) ?? []).join('')
    found[kind as 'header' | 'footer'] += `<w:sdt${names}><w:sdtContent>${shown}</w:sdtContent></w:sdt>`
  }
  return { headers: found.header, footers: found.footer }
}

/** A field without its text, its marks whole. */
function shownOfField(field: string): string {
  return field.replace(/(<w:t(?:\s[^<>]*)?>)[^<]*/g, '$1')
}

function attribute(tag: string, name: string): string {
  return new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
}
