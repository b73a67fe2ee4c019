import { definePlugin } from '@patchbay/plugin'
import { Attic } from './attic.ts'

export default definePlugin({
  objectstore: (host) => new Attic(host.env.get('ATTIC_URL') ?? '', host.env.get('ATTIC_KEY') ?? ''),
})
