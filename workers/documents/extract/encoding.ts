import { ExtractionError } from './extraction-error.ts'

/**
 * Decodes a file of undeclared encoding: by its byte order mark, then by the zero bytes UTF-16 leaves in Latin
 * text, then `declared` (of an HTML page), then UTF-8 if the bytes are valid, else Windows-1252, which contains Latin-1.
 * @throws ExtractionError when the bytes are no text.
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const encoding = markedEncoding(bytes) ?? unmarkedUtf16(bytes)
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes)
  if (looksBinary(bytes)) throw new ExtractionError('The file is not text')
  if (declared !== undefined) {
    try {
      return new TextDecoder(declared, { fatal: true }).decode(bytes)
    } catch {
      // An unknown or wrong label: go by the bytes.
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

const SAMPLE_BYTES = 4096

function unmarkedUtf16(bytes: Uint8Array): string | undefined {
  const sample = Math.min(bytes.length, SAMPLE_BYTES) & ~1
  let evenZeros = 0
  let oddZeros = 0
  for (let i = 0; i < sample; i += 2) {
    if (bytes[i] === 0) evenZeros++
    if (bytes[i + 1] === 0) oddZeros++
  }
  const pairs = sample / 2
  if (oddZeros > pairs * 0.4 && evenZeros < pairs * 0.05) return 'utf-16le'
  if (evenZeros > pairs * 0.4 && oddZeros < pairs * 0.05) return 'utf-16be'
  return undefined
}

function looksBinary(bytes: Uint8Array): boolean {
  const sample = Math.min(bytes.length, SAMPLE_BYTES)
  let controls = 0
  for (let i = 0; i < sample; i++) {
    const byte = bytes[i]!
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b) controls++
  }
  return controls > sample * 0.02
}
