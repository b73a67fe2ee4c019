import type { Tool } from '../../packages/plugin/mod.ts'
import { LANGUAGES, type Words } from './words.ts'

export type DemoTool = keyof Words['tools']
type Parameter = keyof Words['parameters']

const PARAMETERS: Readonly<Record<DemoTool, readonly Parameter[]>> = {
  free_rooms: ['date'],
  book_room: ['room', 'date', 'nights', 'name'],
  free_times: ['date'],
  book_appointment: ['service', 'date', 'time', 'name'],
  check_line: ['customer_number'],
  send_technician: ['date', 'customer_number'],
  save_answers: ['score', 'liked', 'improve'],
}

function schemaOf(name: Parameter, words: Words): Record<string, unknown> {
  const description = words.parameters[name]
  switch (name) {
    case 'date':
      return { type: 'string', format: 'date', description }
    case 'time':
      return { type: 'string', pattern: '^[0-2]\\d:[0-5]\\d$', description }
    case 'room':
      return { type: 'string', enum: Object.values(words.rooms), description }
    case 'service':
      return { type: 'string', enum: Object.values(words.services), description }
    case 'nights':
      return { type: 'integer', minimum: 1, maximum: 14, description }
    case 'score':
      return { type: 'integer', minimum: 1, maximum: 10, description }
    default:
      return { type: 'string', maxLength: 200, description }
  }
}

/** Each tool in each language, its language behind its name: `book_room_de`. */
export const TOOLS: readonly Tool[] = Object.entries(LANGUAGES).flatMap(([language, words]) =>
  Object.entries(PARAMETERS).map(([name, parameters]) => ({
    name: `${name}_${language}`,
    description: words.tools[name as DemoTool],
    parameters: {
      type: 'object',
      properties: Object.fromEntries(parameters.map((one) => [one, schemaOf(one, words)])),
      required: parameters,
    },
  })),
)
