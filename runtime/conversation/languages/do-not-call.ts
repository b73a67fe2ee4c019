import { LANGUAGES } from './index.ts'
import { plain } from './plain.ts'

/** Who talks longer than this says it at the end. */
const MAX_SAID_CHARS = 500
/** People ask for it in their own language, whatever the agent speaks. */
const WISHES = LANGUAGES.flatMap(({ doNotCall }) => doNotCall)

/** Whether somebody asks not to be called again. */
export function wantsNoCalls(text: string): boolean {
  const said = plain(text.slice(-MAX_SAID_CHARS))
  return WISHES.some((wish) => wish.test(said))
}
