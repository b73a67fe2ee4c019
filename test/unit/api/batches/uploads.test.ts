import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { type Phone, startPhone } from '../../../support/phone/phone.ts'

const api = await startTestApi(t, { nodes: 2 })

async function tenantWithPhone() {
  const user = await api.signUp()
  return { user, phone: await startPhone(api, user) }
}

/** An upload whose sender trickles from the middle of the file until told to end. */
function trickle(user: TestUser, phone: Phone) {
  const goOn = Promise.withResolvers<void>()
  const part = (name: string, value: string) =>
    `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const head =
    part('name', 'n') +
    part('agent_id', phone.agentId) +
    part('agent_phone_number', phone.number) +
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nphone_number\r\n'
  const begun = Promise.withResolvers<void>()
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(Buffer.from(head + '+14155552671\r\n'.repeat(20_000)))
      begun.resolve()
      // The least rate that is allowed, with some to spare.
      while (!(await Promise.race([goOn.promise.then(() => true), sleep(200, false)]))) {
        controller.enqueue(Buffer.from('+14155552671\r\n'.repeat(1_000)))
      }
      controller.enqueue(Buffer.from('+14155552672\r\n\r\n--x--\r\n'))
      controller.close()
    },
  })
  const cookie = [...user.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { 'content-type': 'multipart/form-data; boundary=x', cookie }
  const answer = fetch(`${api.url}/batch/upload`, { method: 'POST', headers, body, duplex: 'half' })
  return { answer, goOn: goOn.resolve, begun: begun.promise }
}

t.test('uploads that trickle hold up no other workspace, and end well', async (t) => {
  const [hostile, quiet] = [await tenantWithPhone(), await tenantWithPhone()]
  const standing = Array.from({ length: 4 }, () => trickle(hostile.user, hostile.phone))
  await Promise.all(standing.map(({ begun }) => begun))
  const form = new FormData()
  for (const [name, value] of Object.entries({
    name: 'n',
    agent_id: quiet.phone.agentId,
    agent_phone_number: quiet.phone.number,
  }))
    form.append(name, value)
  form.append('file', new Blob(['phone_number\n+14155552671\n']), 'a.csv')
  t.equal((await quiet.user.client.post('/batch/upload', { form })).status, 201)
  for (const { goOn } of standing) goOn()
  for (const { answer } of standing) {
    const { status, body } = await answer.then(async (one) => ({
      status: one.status,
      body: (await one.json()) as { counts?: { total: number } },
    }))
    t.equal(status, 201)
    t.ok((body.counts?.total ?? 0) > 20_000)
  }
})
