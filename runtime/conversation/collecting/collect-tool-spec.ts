import { collectTool } from '../../call/log/collect-output.ts'
import type { CollectItem } from '../../call/types/collect-item.ts'

const NO_PARAMETERS = { type: 'object', properties: {} } as const

/** The tool by which a language model has a value collected. */
export function collectToolSpec({ name, type, options = [] }: Pick<CollectItem, 'name' | 'type' | 'options'>) {
  const kind = [type, ...options].join(', ')
  return {
    name: collectTool(name),
    description: `Asks the caller for "${name}" (${kind}) and has it confirmed. Call it as soon as the value is needed; do not ask for the value yourself.`,
    parameters: NO_PARAMETERS,
  }
}
