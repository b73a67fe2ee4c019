/** The data of each server-sent event of an answer, as it comes (WHATWG HTML, 9.2). */
export async function* readEvents(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  let rest = ''
  let data: string[] = []
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n')
        data = []
      } else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
    }
  }
  if (data.length > 0) yield data.join('\n')
}
