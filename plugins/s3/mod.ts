import { definePlugin } from '../../runtime/plugin/contract.ts'
import { S3Bucket } from './bucket.ts'
import { S3Store } from './store.ts'

/** One bucket of any S3-compatible server: see README.md for its settings. */
export default definePlugin({
  objectstore: (host, { settings }) => {
    const { prefix } = settings
    return new S3Store(new S3Bucket(host), typeof prefix === 'string' ? prefix : '')
  },
  check: (host, { signal }) => new S3Bucket(host).check(signal),
})
