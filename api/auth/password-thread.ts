import { hashSync, verifySync } from '@node-rs/argon2'
import { serve } from '../../runtime/process/offload/task.ts'

/** Entry of the threads of password.ts: one hash after the other. */

export interface PasswordWork {
  password: string
  /** The hash it may be the password of; absent: a new hash is made. */
  against?: string
}

serve(({ password, against }: PasswordWork) =>
  against === undefined ? hashSync(password) : verifySync(against, password),
)
