/** The programs of programs.ts for the SDKs, and what they have beyond generated clients: pages, streams, errors, webhooks. */

export const TYPESCRIPT_SDK = `
import { createHmac } from 'node:crypto'
import { everyPage, Patchbay, PatchbayError, readWebhook } from '@patchbay/client'

const [baseUrl = '', key = ''] = process.argv.slice(2)
const patchbay = new Patchbay({ baseUrl, key })
const stream = patchbay.events({ types: ['agent.changed'] })
const first = stream.next()
await new Promise((resolve) => setTimeout(resolve, 500))
const agent = await patchbay.createAgent({ agent_name: 'Ada', system_prompt: 'You answer.' })
const heard = (await first).value
if (heard?.data.type !== 'agent.changed' || heard.data.data.agent_id !== agent.agent_id) throw new Error('no event')
await stream.return(undefined)
const { phone_number } = await patchbay.createPhoneNumber({ phone_number: '+14155550100', provider: 'sim', agent_id: agent.agent_id })
const call = await patchbay.placeCall({
  agent_phone_number: phone_number, phone_number_to_dial: '+14155550199', dynamic_variables: { crm_id: 'c-7' } }, { idempotencyKey: 'order-1' })
const crm: string | undefined = call.dynamic_variables['crm_id']
const campaign = await patchbay.createCampaign({ name: 'March', agent_id: agent.agent_id, active: false })
const list = await patchbay.createList({ campaign: campaign.slug, name: 'List' })
const original_data = new File(['primary_phone,first_name\\n+14155550123,Ada\\n'], 'prospects.csv')
const upload = await patchbay.uploadProspects(list.list_slug, { original_data, dedupe: true })
const webhook = await patchbay.createWebhook({ url: 'https://example.com/hook', types: ['call.ended'] })
const report = await patchbay.getDashboard({ call_type: 'phone' })
const logs: string[] = []
for await (const { call_log_id } of everyPage((page) => patchbay.listCalls({ page, status: ['queued', 'ringing'] }))) logs.push(call_log_id)
const failure: unknown = await patchbay.getCall('none').catch((error: unknown) => error)
if (!(failure instanceof PatchbayError) || failure.code !== 'call_log_not_found' || failure.status !== 404) throw failure
// @ts-expect-error a required field is missing
const incomplete = () => patchbay.createAgent({ agent_name: 'Ada' })
void incomplete

const body = JSON.stringify({ id: '1', type: 'call.turn', data: { text: 'Hi' } })
const now = Math.floor(Date.now() / 1000)
const sign = (text: string) =>
  createHmac('sha256', Buffer.from(webhook.secret.replace('whsec_', ''), 'base64')).update(text).digest('base64')
const headers = { 'webhook-id': '1', 'webhook-timestamp': String(now), 'webhook-signature': \`v1,\${sign(\`1.\${now}.\${body}\`)}\` }
const event = await readWebhook(webhook.secret, headers, body)
if (event.type !== 'call.turn' || event.data.text !== 'Hi') throw new Error('no event')
const forged = await readWebhook(webhook.secret, headers, \`\${body} \`).then(() => true, () => false)
const old = await readWebhook(webhook.secret, headers, body, Date.now() + 400_000).then(() => true, () => false)
if (forged || old) throw new Error('taken')
console.log(JSON.stringify({ agent: agent.agent_id, number: phone_number, call: call.call_log_id, crm, campaign: campaign.slug,
  upload: upload.uuid, webhook: webhook.webhook_id, calls: report.totals.total_calls, logs: logs.length }))
`

export const PYTHON_SDK = `
import base64
import hashlib
import hmac
import json
import sys
import threading
import time

from patchbay_client import FileInput, Patchbay, PatchbayError, every_page, read_webhook

patchbay = Patchbay(sys.argv[1], sys.argv[2])
heard: list[str] = []


def listen() -> None:
    for event in patchbay.events(types=["agent.changed"]):
        heard.append(event.data["data"]["agent_id"])
        return


listener = threading.Thread(target=listen)
listener.start()
time.sleep(0.5)
agent = patchbay.create_agent({"agent_name": "Ada", "system_prompt": "You answer."})
listener.join(20)
assert heard == [agent["agent_id"]], heard
number = patchbay.create_phone_number(
    {"phone_number": "+14155550100", "provider": "sim", "agent_id": agent["agent_id"]})
call = patchbay.place_call({
    "agent_phone_number": number["phone_number"], "phone_number_to_dial": "+14155550199", "dynamic_variables": {"crm_id": "c-7"},
}, idempotency_key="order-1")
crm: str = call["dynamic_variables"]["crm_id"]
campaign = patchbay.create_campaign({"name": "March", "agent_id": agent["agent_id"], "active": False})
prospects = patchbay.create_list({"campaign": campaign["slug"], "name": "List"})
rows = FileInput("prospects.csv", b"primary_phone,first_name\\n+14155550123,Ada\\n")
upload = patchbay.upload_prospects(prospects["list_slug"], {"original_data": rows, "dedupe": True})
webhook = patchbay.create_webhook({"url": "https://example.com/hook", "types": ["call.ended"]})
report = patchbay.get_dashboard({"call_type": "phone"})
logs = list(every_page(lambda page: patchbay.list_calls({"page": page, "status": ["queued", "ringing"]})))
try:
    patchbay.get_call("none")
    raise SystemExit("found")
except PatchbayError as error:
    assert (error.status, error.code) == (404, "call_log_not_found"), error
body = json.dumps({"type": "call.turn", "data": {"text": "Hi"}}).encode()
now = str(int(time.time()))
secret = base64.b64decode(webhook["secret"].removeprefix("whsec_"))
signature = base64.b64encode(hmac.new(secret, f"1.{now}.".encode() + body, hashlib.sha256).digest()).decode()
headers = {"Webhook-Id": "1", "Webhook-Timestamp": now, "Webhook-Signature": f"v1,{signature}"}
assert read_webhook(webhook["secret"], headers, body)["data"]["text"] == "Hi"
for forged, at in ((body + b" ", time.time()), (body, time.time() + 400)):
    try:
        read_webhook(webhook["secret"], headers, forged, at)
        raise SystemExit("taken")
    except ValueError:
        pass
print(json.dumps({
    "agent": agent["agent_id"], "number": number["phone_number"], "call": call["call_log_id"], "crm": crm, "campaign": campaign["slug"],
    "upload": upload["uuid"], "webhook": webhook["webhook_id"], "calls": report["totals"]["total_calls"], "logs": len(logs),
}))
`
