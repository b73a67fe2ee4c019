import { createLogger } from '../../../../runtime/process/log.ts'

/** A role that logs more than a pipe holds and then ends, once it is told to. */

const log = createLogger({ level: 'info', name: 'test' })
process.once('message', () => {
  for (let line = 0; line < 5_000; line++)
    log.info({ line }, 'A line of the log that is about as long as most of them are')
  process.exit()
})
process.send?.('ready')
