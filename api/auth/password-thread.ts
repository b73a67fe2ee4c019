import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'
import { noteThreadId } from '../../runtime/process/offload/thread-id.ts'
import { lower } from '../../runtime/process/priority.ts'

/** A thread of password-threads.ts: one hash after the other. */

export interface PasswordWork {
  password: string
  /** The hash it may be the password of; absent: a new hash is made. */
  against?: string
}

export type PasswordResult = { result: string | boolean } | { fault: string }

lower(noteThreadId())
const port = parentPort!
port.on('message', ({ password, against }: PasswordWork) => {
  try {
    const result = against === undefined ? hashSync(password) : verifySync(against, password)
    port.postMessage({ result } satisfies PasswordResult)
  } catch (error) {
    port.postMessage({ fault: String(error) } satisfies PasswordResult)
  }
})
