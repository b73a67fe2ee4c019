/** A server-sent event. */
export interface ServerEvent {
  /** `message` where the server names none. */
  readonly event: string
  readonly data: string
}

/** The data of each server-sent event of an answer, as it comes. */
export async function* readEvents(response: Response): AsyncGenerator<string> {
  for await (const { data } of readServerEvents(response)) yield data
}

/** Each server-sent event of an answer with its name, as it comes (WHATWG HTML, 9.2). */
export async function* readServerEvents(response: Response): AsyncGenerator<ServerEvent> {
  if (response.body === null) return
  /** Pieces of the line that has no end yet: joined once, however many they are. */
  let open: string[] = []
  let data: string[] = []
  let event = ''
  /** The last character was a carriage return: a line feed behind it ends no other line. */
  let isReturned = false
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>
  for await (const piece of response.body.pipeThrough(decoder)) {
    if (piece === '') continue
    const text = isReturned && piece.startsWith('\n') ? piece.slice(1) : piece
    isReturned = piece.endsWith('\r')
    const [first = '', ...rest] = text.split(/\r\n|\n|\r/)
    open.push(first)
    if (rest.length === 0) continue
    const last = rest.pop() ?? ''
    for (const line of [open.join(''), ...rest]) {
      if (line === '') {
        if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
        data = []
        event = ''
      } else if (line.startsWith('data:')) data.push(fieldValue(line))
      else if (line.startsWith('event:')) event = fieldValue(line)
    }
    open = [last]
  }
  if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
}

function fieldValue(line: string): string {
  const value = line.slice(line.indexOf(':') + 1)
  return value.startsWith(' ') ? value.slice(1) : value
}
