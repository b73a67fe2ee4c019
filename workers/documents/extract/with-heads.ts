import { stylesWith } from './styles-with.ts'

/** Tables of Word files and their styles (ECMA-376, part 1, 17.4). */

const FIRST_ROW = '<w:tblStylePr w:type="firstRow"'
/** The start of a table to that of its first row, with the row's properties. */
const TABLE_START =
  /<w:tbl>\s*<w:tblPr>((?:(?!<w:tbl>|<w:tr[\s>])[\s\S])*)<w:tr(?:\s[^<>]*)?>(?:\s*<w:tblPrEx>(?:(?!<w:tr[\s>])[\s\S])*?<\/w:tblPrEx>)?(\s*<w:trPr>)?/g
/** A bit of `w:val`: the first row has the style's form of a head. */
const LOOK_OF_FIRST_ROW = 0x20

/** Ids of styles of tables that set their first row apart. */
export function stylesWithHead(styles: string): ReadonlySet<string> {
  return stylesWith(styles, (style) => style.includes(FIRST_ROW))
}

/** The XML with the first rows of tables of these styles marked as their heads. */
export function withHeads(xml: string, styles: ReadonlySet<string>): string {
  if (styles.size === 0) return xml
  return xml.replace(TABLE_START, (start: string, properties: string, rowProperties: string | undefined) => {
    const [, style = ''] = /<w:tblStyle w:val="([^"]*)"/.exec(properties) ?? []
    const [, look = ''] = /<w:tblLook\s([^<>]*)>/.exec(properties) ?? []
    const [, value = '0'] = /w:val="([0-9A-Fa-f]{1,4})"/.exec(look) ?? []
    const isOn = /w:firstRow="(?:1|true|on)"/.test(look) || (Number.parseInt(value, 16) & LOOK_OF_FIRST_ROW) > 0
    if (!styles.has(style) || !isOn) return start
    return rowProperties === undefined ? `${start}<w:trPr><w:tblHeader/></w:trPr>` : `${start}<w:tblHeader/>`
  })
}
