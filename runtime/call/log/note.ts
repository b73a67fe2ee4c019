import type { CallEventBody } from './events.ts'

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
