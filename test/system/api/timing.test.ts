import t from 'tap'
import { startTestApi } from '../../support/instance/api.ts'

/** Fewer than an address may guess wrong at one account. */
const ATTEMPTS = 8
/** What an invitation takes at least; timers of a machine may be a little early. */
const LEAST_INVITE_MS = 45

/** Milliseconds of the processor, of which a machine that is busy with others takes none away. */
async function cost(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function took(act: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await act()
  return performance.now() - startMs
}

t.test('a login costs as much whether or not there is such an account', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const login = (email: string) =>
    cost(() => api.client().post('/auth/login', { body: { email, password: 'wrong horse' } }))
  await login('warm@example.com')
  const [known, unknown]: [number[], number[]] = [[], []]
  for (let i = 0; i < ATTEMPTS; i++) {
    known.push(await login(ada.email))
    unknown.push(await login(`nobody${i}@example.com`))
  }
  // The least is what it needs: whatever else the process did meanwhile only adds.
  const [knownMs, unknownMs] = [Math.min(...known), Math.min(...unknown)]
  t.ok(
    unknownMs > knownMs / 2 && unknownMs < 2 * knownMs,
    `${knownMs.toFixed(1)} ms known, ${unknownMs.toFixed(1)} ms unknown`,
  )
})

t.test('an invitation takes as long and says as much whether or not the address is known', async (t) => {
  const api = await startTestApi(t)
  const [ada, grace] = [await api.signUp(), await api.signUp('Grace')]
  const bodies = new Set<string>()
  const invite = (email: string) =>
    took(async () => {
      const { text } = await ada.client.post(`/workspaces/${ada.workspaceId}/invite`, {
        body: { email, role: 'member' },
      })
      bodies.add(text)
    })
  const times: number[] = []
  for (let i = 0; i < ATTEMPTS; i++) times.push(await invite(grace.email), await invite(`nobody${i}@example.com`))
  t.ok(Math.min(...times) >= LEAST_INVITE_MS, `the quickest took ${Math.min(...times).toFixed(1)} ms`)
  t.equal(bodies.size, 1)
})
