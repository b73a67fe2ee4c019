import { explainStatus, ProviderError } from '../../provider-error.ts'
import { ApiFault } from './rest.ts'

/** Asks a carrier's API for something that costs nothing. Throws ProviderError where the API refuses. */
export async function checkCarrier(title: string, keyVariable: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof ApiFault) || error.status === undefined) throw error
    throw new ProviderError(explainStatus({ title, keyVariable }, error.status, error.message), error)
  }
}
