/**
 * The few elements of S3's XML that are read. Their values are ids, codes and sentences without markup of their own, so
 * no parser is needed; what is not found is undefined.
 */

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&#34;': '"',
  '&#39;': "'",
  '&amp;': '&',
}

/** Text of the first element of this name. */
export function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text?.replace(/&(?:lt|gt|quot|apos|#34|#39|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}

/** Code and sentence of an `<Error>`. */
export function errorOf(xml: string): { code?: string; message?: string } {
  if (!xml.includes('<Error>')) return {}
  const code = elementOf(xml, 'Code')
  const message = elementOf(xml, 'Message')
  return { ...(code === undefined ? {} : { code }), ...(message === undefined ? {} : { message }) }
}

/** Body of CompleteMultipartUpload; tags in the order of the parts. */
export function completionOf(tags: readonly string[]): string {
  const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeText(tag)}</ETag></Part>`)
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`
}

function escapeText(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
