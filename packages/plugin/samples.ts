/** The 16-bit samples of an answer whose body is raw audio, as they come: pieces of a body may end in the middle of one. */
export async function* readSamples(response: Response): AsyncGenerator<Int16Array> {
  let rest = new Uint8Array(0)
  for await (const piece of response.body ?? []) {
    const bytes = new Uint8Array(rest.length + piece.length)
    bytes.set(rest)
    bytes.set(piece, rest.length)
    const whole = bytes.length & ~1
    // A copy: samples have to lie at an even address, and are the reader's to keep.
    if (whole > 0) yield new Int16Array(bytes.slice(0, whole).buffer)
    rest = bytes.slice(whole)
  }
}
