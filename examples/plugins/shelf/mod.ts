import { definePlugin } from '@patchbay/plugin'
import { Shelf } from './shelf.ts'

export default definePlugin({ vectorstore: () => new Shelf() })
