import type { Toolbox } from '@patchbay/plugin'

/** One tool: it says a word several times. */
export const repeat: Toolbox = {
  list: async () => [
    {
      name: 'repeat',
      description: 'Says a word several times.',
      parameters: {
        type: 'object',
        properties: { word: { type: 'string' }, times: { type: 'integer', minimum: 1, maximum: 10 } },
        required: ['word'],
      },
    },
  ],
  async call({ name, input }) {
    if (name !== 'repeat') throw new Error(`There is no tool "${name}"`)
    return Array.from({ length: Number(input.times ?? 2) }, () => input.word).join(' ')
  },
}
