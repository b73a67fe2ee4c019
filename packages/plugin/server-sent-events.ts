/** The data of each server-sent event of an answer, as it comes (WHATWG HTML, 9.2). */
export async function* readEvents(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  /** Pieces of the line that has no end yet: joined once, however many they are. */
  let open: string[] = []
  let data: string[] = []
  /** The last character was a carriage return: a line feed behind it ends no other line. */
  let isReturned = false
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    if (piece === '') continue
    const text = isReturned && piece.startsWith('\n') ? piece.slice(1) : piece
    isReturned = piece.endsWith('\r')
    const [first = '', ...rest] = text.split(/\r\n|\n|\r/)
    open.push(first)
    if (rest.length === 0) continue
    const last = rest.pop() ?? ''
    for (const line of [open.join(''), ...rest]) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n')
        data = []
      } else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
    }
    open = [last]
  }
  if (data.length > 0) yield data.join('\n')
}
