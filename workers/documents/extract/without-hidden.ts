import { stylesWith } from './styles-with.ts'

/** Text of Word files that is formatted as hidden (ECMA-376, part 1, 17.3.2). */

const RUN = /<w:r(?:\s[^<>]*)?>(?:(?!<\/?w:r[\s>])[\s\S])*<\/w:r>/g
const RUN_PROPERTIES = /^<w:r(?:\s[^<>]*)?>\s*<w:rPr>((?:(?!<\/w:rPr>)[\s\S])*)/
const PARAGRAPH = /<w:p(?:\s[^<>]*)?>(?:(?!<\/?w:p[\s>])[\s\S])*<\/w:p>/g
const PARAGRAPH_STYLE = /^<w:p(?:\s[^<>]*)?>\s*<w:pPr>(?:(?!<\/w:pPr>)[\s\S])*?<w:pStyle w:val="([^"]*)"/
/** `w:val` takes it back. */
const HIDDEN = /<w:(?:vanish|webHidden)(?:\s+w:val="(?:1|true|on)")?\s*\/>/
/** Ids of styles whose text is hidden. */
export function hiddenStyles(styles: string): ReadonlySet<string> {
  return stylesWith(styles, (style) => HIDDEN.test(style))
}

/** The XML without the runs that are hidden, by themselves or by a style. */
export function withoutHidden(xml: string, styles: ReadonlySet<string>): string {
  if (!HIDDEN.test(xml) && styles.size === 0) return xml
  const isHidden = (run: string): boolean => {
    const [, properties = ''] = RUN_PROPERTIES.exec(run) ?? []
    const [, style = ''] = /<w:rStyle w:val="([^"]*)"/.exec(properties) ?? []
    return HIDDEN.test(properties) || (styles.has(style) && !properties.includes('<w:vanish w:val="'))
  }
  const seen = xml.replace(RUN, (run) => (isHidden(run) ? '' : run))
  if (styles.size === 0) return seen
  return seen.replace(PARAGRAPH, (paragraph) => {
    const [, style = ''] = PARAGRAPH_STYLE.exec(paragraph) ?? []
    return styles.has(style) ? paragraph.replace(RUN, '') : paragraph
  })
}
