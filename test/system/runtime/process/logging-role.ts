import { createLogger } from '../../../../runtime/process/log.ts'

/** A role that logs more than a pipe holds whenever it is told something, and ends behind it where that is to end. */

const log = createLogger({ level: 'info', name: 'test' })
process.on('message', (order) => {
  for (let line = 0; line < 5_000; line++)
    log.info({ line }, 'A line of the log that is about as long as most of them are')
  if (order === 'end') process.exit()
  process.send?.('logged')
})
process.send?.('ready')
