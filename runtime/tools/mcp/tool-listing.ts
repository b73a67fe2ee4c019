import { cutText } from '../../lib/text.ts'
import { faultOfParameters } from '../parameters-fault.ts'

/** Of a tool's name, as its server calls it; one that is longer is left out. */
const MAX_NAME_CHARACTERS = 256
const MAX_DESCRIPTION_CHARACTERS = 2_000
/** Of all tools of a server together, names and schemas; what comes after is left out. */
const MAX_LISTING_CHARACTERS = 256 * 1024

/** A tool as its server lists it. */
export interface McpTool {
  name: string
  description: string
  /** JSON Schema, as it came. */
  inputSchema: Record<string, unknown>
  /** Of all of it as JSON. */
  characters: number
}

/** The tools of one server, no more than is kept of it. Those whose parameters are none for a tool are left out. */
export class ToolListing {
  readonly tools: McpTool[] = []
  readonly #most: number
  #characters = 0
  #isFull = false

  constructor(most: number) {
    this.#most = most
  }

  get isFull(): boolean {
    return this.#isFull || this.tools.length >= this.#most
  }

  add({ name, description, inputSchema }: Omit<McpTool, 'characters'>): void {
    if (this.isFull || name.length > MAX_NAME_CHARACTERS || faultOfParameters(inputSchema) !== undefined) return
    const words = cutText(description, MAX_DESCRIPTION_CHARACTERS)
    const characters = name.length + words.length + JSON.stringify(inputSchema).length
    this.#characters += characters
    if (this.#characters > MAX_LISTING_CHARACTERS) this.#isFull = true
    else this.tools.push({ name, description: words, inputSchema, characters })
  }
}
