// Makes an agent and a number, places a call, prints how many calls there are.
import { everyPage, Patchbay } from '@patchbay/client'

const patchbay = new Patchbay({ baseUrl: process.env.PATCHBAY_URL, key: process.env.PATCHBAY_KEY })
const agent = await patchbay.createAgent({ agent_name: 'Ada', system_prompt: 'You confirm orders.' })
const { phone_number } = await patchbay.createPhoneNumber({
  phone_number: '+14155550100',
  provider: 'sim',
  agent_id: agent.agent_id,
})
// Sent again with the same key, it is the same call.
for (const _ of [1, 2]) {
  const input = { agent_phone_number: phone_number, phone_number_to_dial: '+14155550199' }
  await patchbay.placeCall(input, { idempotencyKey: 'order-4711' })
}
const calls = await Array.fromAsync(everyPage((page) => patchbay.listCalls({ page })))
console.log(calls.length)
