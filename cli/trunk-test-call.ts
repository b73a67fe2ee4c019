import { InstanceClient, LOCAL_URL } from './instance/instance-client.ts'

/** Ringing and talk together. */
const CALL_TIMEOUT_MS = 90_000

interface TestCallAnswer {
  healthy: boolean
  from_number: string
  findings: { check: string; ok: boolean; text: string }[]
  ladder: string
}

/**
 * Has a running Patchbay call a number over a trunk, and says what the call showed. `trunk`: a name or id; undefined: the only one.
 * Throws `configuration`, and Error where no trunk is meant or the call may not be made.
 */
export async function testCallOverTrunk(
  { call, trunk }: { call: string; trunk: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ text: string; healthy: boolean }> {
  const client = new InstanceClient(env.PATCHBAY_URL || LOCAL_URL, env.PATCHBAY_API_KEY, 'numbers')
  const { body: all } = await client.get('/trunks')
  const trunks = all as { trunk_id: string; name: string }[]
  const named = trunks.filter(({ trunk_id, name }) => trunk === undefined || trunk === trunk_id || trunk === name)
  const [only] = named
  if (only === undefined || named.length > 1) {
    throw new Error(`Say which trunk: --trunk=NAME; there are ${trunks.map(({ name }) => name).join(', ') || 'none'}`)
  }
  const path = `/trunks/${only.trunk_id}/test-call`
  const { body } = await client.post(path, { phone_number_to_dial: call }, CALL_TIMEOUT_MS)
  const { healthy, from_number, findings, ladder } = body as TestCallAnswer
  const lines = findings.map(({ ok, check, text }) => `sip  ${ok ? 'ok    ' : 'FAULT '}  ${check}: ${text}`)
  return { text: [`A call of ${call} from ${from_number} over ${only.name}`, ...lines, '', ladder].join('\n'), healthy }
}
