import { shortText } from '../../lib/text.ts'
import type { CallEventBody, EventOf } from './events.ts'
import type { ToolCall } from './resume.ts'

const MAX_RESULT_CHARS = 2_000

/** The note for the language model about a supervisor's action; undefined where it needs none. */
export function noteOf(event: CallEventBody): string | undefined {
  switch (event.type) {
    case 'whispered':
      return `A supervisor who listens in tells you, unheard by the caller: ${event.text}`
    case 'took_over':
      return 'A supervisor talks with the caller from here on, in your place. What they say is not written here.'
    case 'gave_back': {
      const back = 'The supervisor has given the caller back to you.'
      return event.summary === undefined ? back : `${back} This is what they talked about: ${event.summary}`
    }
    default:
      return undefined
  }
}

/** What an agent reads of how the call came to it. */
export function handoffNote({ from_name, reason, carries, summary, said, failed }: EventOf<'handed_off'>): string {
  if (failed === true) return `The call is back with you: ${reason} The caller was told nothing of it. Go on yourself.`
  return [
    `You take over this call from the agent ${JSON.stringify(from_name)}. Its reason: ${reason}`,
    ...(summary === undefined ? [] : [`What was talked about: ${summary}`]),
    ...(carries === 'all' || said === undefined ? [] : [`The caller heard last: ${said}`]),
    'The caller is on the line and was greeted: do not greet again. Go on with what they want.',
  ].join('\n')
}

/** What an agent reads of a tool that the agent before called. */
export function earlierToolNote({ name, arguments: given, result, error }: ToolCall): string {
  const came = shortText(error === undefined ? (result ?? '') : `error: ${error}`, MAX_RESULT_CHARS)
  return `The agent before called ${name} with ${shortText(JSON.stringify(given), MAX_RESULT_CHARS)} and got: ${came}`
}
