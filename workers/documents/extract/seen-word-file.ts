import { unpack, zipEntries, zipOf } from '../../../runtime/lib/zip.ts'
import { marginTexts } from './margin-texts.ts'
import { stylesWithHead, withHeads } from './with-heads.ts'
import { hiddenStyles, withoutHidden } from './without-hidden.ts'

const BODY = 'word/document.xml'
const STYLES = 'word/styles.xml'
const RELATIONS = 'word/_rels/document.xml.rels'

/**
 * A Word file as its readers see it: without hidden text, with the text of its headers before and of its footers behind the body, and rows that
 * the style of their table sets apart as its head marked as such. The same file where it has nothing of this.
 * @param limitBytes of a part, unpacked
 * @throws ZipError
 */
export function seenWordFile(bytes: Uint8Array, limitBytes: number): Uint8Array {
  const entries = zipEntries(bytes)
  const text = (name: string): string => {
    const entry = entries.find((one) => one.name === name)
    return entry === undefined ? '' : unpack(entry, limitBytes).toString('utf8')
  }
  const body = text(BODY)
  const styles = text(STYLES)
  const hidden = hiddenStyles(styles)
  const { headers, footers } = marginTexts(body, text(RELATIONS), (part) => withoutHidden(text(part), hidden))
  const seen = withHeads(withoutHidden(body, hidden), stylesWithHead(styles))
    .replace(/<w:body(?:\s[^>]*)?>/, (start) => start + headers)
    .replace('</w:body>', () => `${footers}</w:body>`)
  if (seen === body) return bytes
  const kept = (entry: (typeof entries)[number]): Buffer =>
    entry.name === BODY ? Buffer.from(seen) : unpack(entry, limitBytes)
  return zipOf(entries.map((entry) => [entry.name, kept(entry)] as const))
}
