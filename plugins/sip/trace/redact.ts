/** What nobody who looks at a call may see: answers to challenges, keys of media, keys that were pressed. Pure. */

const MAX_BODY_CHARS = 8_192

/** A message as text that may be kept. */
export function redact(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const gap = text.indexOf('\r\n\r\n')
  const head = gap < 0 ? text : text.slice(0, gap)
  const body = gap < 0 ? '' : text.slice(gap + 4)
  return `${redactHead(head)}\r\n\r\n${redactBody(head, body)}`
}

function redactHead(head: string): string {
  return head
    .replace(
      /^((?:Proxy-)?Authorization|Authentication-Info)([ \t]*:[ \t]*)(\w+)?.*(?:\r\n[ \t].*)*$/gim,
      '$1$2$3 [redacted]',
    )
    .replace(/^(Identity[ \t]*:[ \t]*).*$/gim, '$1[redacted]')
}

function redactBody(head: string, body: string): string {
  if (body === '') return ''
  const type = /^(?:content-type|c)[ \t]*:[ \t]*([^;\r\n]+)/im.exec(head)?.[1]?.trim().toLowerCase() ?? ''
  if (type === 'application/dtmf-relay' || type === 'application/dtmf') return '[a key]'
  const isText = type === 'application/sdp' || type.startsWith('message/') || type.startsWith('multipart/')
  if (!isText) return `[${body.length} bytes of ${type || 'no type'}]`
  return body
    .replace(/(a=crypto:\S+ \S+ inline:)[^\s|]+/g, '$1[redacted]')
    .replace(/^(a=(?:ice-pwd|key-mgmt):).*$/gim, '$1[redacted]')
    .replace(/[^\x20-\x7e\r\n\t\xa0-\xff]/g, '·')
    .slice(0, MAX_BODY_CHARS)
}
