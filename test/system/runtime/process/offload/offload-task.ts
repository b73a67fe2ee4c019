/** The entry of the workers of offload.test.ts: does what its input says. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, threadId } from 'node:worker_threads'
import { PatchbayError } from '../../../../../runtime/lib/errors.ts'
import { serve } from '../../../../../runtime/process/offload/task.ts'

export interface Act {
  act: 'echo' | 'ask' | 'sleep' | 'spin' | 'throw' | 'refuse' | 'exit' | 'spoil' | 'hoard' | 'allocate'
  value?: unknown
}

const hoard: Buffer[] = []

serve(async ({ act, value }: Act, context): Promise<unknown> => {
  const who = isMainThread ? process.pid : threadId
  if (act === 'ask') return { who, answers: [await context.ask(value), await context.ask('more')] }
  if (act === 'sleep') await sleep(Number(value))
  if (act === 'spin') for (;;);
  if (act === 'throw') throw new TypeError('not this')
  if (act === 'refuse') throw new PatchbayError('unavailable', { cause: new Error('no database') })
  if (act === 'exit') process.exit(3)
  if (act === 'spoil') context.spoil()
  if (act === 'hoard') hoard.push(Buffer.alloc(300 << 20, 1))
  if (act === 'allocate') for (;;) hoard.push(Buffer.allocUnsafeSlow(8 << 20).fill(1))
  return { who, value }
})
