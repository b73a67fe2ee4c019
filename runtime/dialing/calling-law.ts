import type { Reloads } from '../process/reloads.ts'
import { type CallingRules, loadCallingRules } from './rules.ts'
import { type Places, shippedPlaces } from './zones.ts'

/** When the law lets us call, and where numbers are. */
export interface CallingLaw {
  /** Those of the last reload: read them where they are used. */
  readonly rules: CallingRules
  /** The operator's own file of them, as it was last read. */
  readonly rulesFile: string | undefined
  readonly places: Places
}

interface LawContext {
  readonly config: { readonly callingRules?: string | undefined }
  readonly reloads: Pick<Reloads<{ readonly callingRules?: string | undefined }>, 'watch'>
}

/** The law, read anew at each reload. Throws `configuration` when the operator's file can't be used. */
export async function openCallingLaw({ config, reloads }: LawContext): Promise<CallingLaw> {
  let rulesFile = config.callingRules
  const places = shippedPlaces()
  let rules = await loadCallingRules(rulesFile)
  reloads.watch(async ({ callingRules }) => {
    const next = await loadCallingRules(callingRules)
    return () => {
      rules = next
      rulesFile = callingRules
    }
  })
  return {
    get rules() {
      return rules
    },
    get rulesFile() {
      return rulesFile
    },
    places,
  }
}
