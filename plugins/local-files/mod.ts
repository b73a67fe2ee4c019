import { definePlugin } from '../../runtime/plugin/contract.ts'
import { LocalFiles } from './local-files.ts'

/** Objects without any service: see README.md for where it ends. */
export default definePlugin({ objectstore: (_host, { folder }) => new LocalFiles(folder) })
