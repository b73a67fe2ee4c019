import type { EventOf } from './events.ts'

/** The tool by which the language model has an item collected. */
export const collectTool = (name: string): string => `collect_${name}`

/** What the language model reads of an item that was collected or given up. Of a secret it learns that it is there, and how to pass it on. */
export function collectOutput(event: Omit<EventOf<'collected'>, 'type'>): string {
  const { name, status, value, confidence, heard, attempts, secret } = event
  if (status !== 'collected')
    return JSON.stringify({ [status]: true, ...(heard === undefined ? {} : { heard }), attempts })
  if (secret) return JSON.stringify({ collected: true, attempts, use: `{{${name}}}` })
  return JSON.stringify({ value, confidence, heard, attempts })
}
