import { autogroupOf, setAutogroup } from '../../../runtime/process/scheduling/autogroup.ts'

/** Why this machine can't show how sessions share the processor; false where it can. */
export function withoutAutogroups(): string | false {
  const own = autogroupOf('self')
  if (own === undefined) return 'this machine shares its processor out among processes, not sessions'
  // Setting what is set already changes nothing.
  return !setAutogroup('self', own.nice) && 'the system lets this process move no session'
}
