/** The programs of programs.ts for clients in Python. */

const PRINT = `
print(json.dumps({
    "agent": str(agent.agent_id), "number": number.phone_number, "call": str(call.call_log_id), "crm": crm, "campaign": campaign.slug,
    "upload": str(upload.uuid), "webhook": str(webhook.webhook_id), "calls": report.totals.total_calls, "logs": logs.total,
}))
`

const OPENAPI_PYTHON_CLIENT = `
import io
import json
import sys
from typing import TypeVar

from patchbay_client import AuthenticatedClient
from patchbay_client.api.agents import create_agent
from patchbay_client.api.calls import list_calls, place_call
from patchbay_client.api.campaigns import create_campaign
from patchbay_client.api.phone_numbers import create_phone_number
from patchbay_client.api.prospects import create_list, upload_prospects
from patchbay_client.api.reports import get_dashboard
from patchbay_client.api.webhooks import create_webhook
from patchbay_client.models import (
    CallStatus, CallType, CreateAgentInput, CreateCampaign, CreateListInput, CreatePhoneNumberInput, CreateWebhookInput, Error, PlaceCallInput,
    PlaceCallInputDynamicVariables, UploadProspectsInput, ValidationError,
)
from patchbay_client.types import File

T = TypeVar("T")


def must(answer: T | Error | ValidationError | None) -> T:
    if answer is None or isinstance(answer, (Error, ValidationError)):
        raise SystemExit(str(answer))
    return answer


address, key = sys.argv[1:]
client = AuthenticatedClient(base_url=address, token=key, raise_on_unexpected_status=True)
agent = must(create_agent.sync(client=client, body=CreateAgentInput(agent_name="Ada", system_prompt="You answer.")))
number = must(create_phone_number.sync(
    client=client, body=CreatePhoneNumberInput(phone_number="+14155550100", provider="sim", agent_id=str(agent.agent_id))))
variables = PlaceCallInputDynamicVariables.from_dict({"crm_id": "c-7"})
call = must(place_call.sync(client=client, body=PlaceCallInput(
    agent_phone_number=number.phone_number, phone_number_to_dial="+14155550199", dynamic_variables=variables)))
crm: str = call.dynamic_variables["crm_id"]
campaign = must(create_campaign.sync(client=client, body=CreateCampaign(name="March", agent_id=str(agent.agent_id), active=False)))
prospects = must(create_list.sync(client=client, body=CreateListInput(campaign=campaign.slug, name="List")))
rows = File(payload=io.BytesIO(b"primary_phone,first_name\\n+14155550123,Ada\\n"), file_name="prospects.csv")
upload = must(upload_prospects.sync(prospects.list_slug, client=client, body=UploadProspectsInput(original_data=rows, dedupe=True)))
webhook = must(create_webhook.sync(client=client, body=CreateWebhookInput(url="https://example.com/hook", types=["call.ended"])))
report = must(get_dashboard.sync(client=client, call_type=CallType.PHONE))
logs = must(list_calls.sync(client=client, status=[CallStatus.QUEUED, CallStatus.RINGING]))
${PRINT}`

const OPENAPI_GENERATOR = `
import json
import sys

import openapi_client as api

address, key = sys.argv[1:]
client = api.ApiClient(api.Configuration(host=address, api_key={"apiKey": key}))
agent = api.AgentsApi(client).create_agent(api.CreateAgentInput(agent_name="Ada", system_prompt="You answer."))
number = api.PhoneNumbersApi(client).create_phone_number(
    api.CreatePhoneNumberInput(phone_number="+14155550100", provider="sim", agent_id=str(agent.agent_id)))
calls = api.CallsApi(client)
call = calls.place_call(api.PlaceCallInput(
    agent_phone_number=number.phone_number, phone_number_to_dial="+14155550199", dynamic_variables={"crm_id": "c-7"}))
crm = call.dynamic_variables["crm_id"]
campaign = api.CampaignsApi(client).create_campaign(
    api.CreateCampaign(name="March", agent_id=str(agent.agent_id), active=False))
prospects = api.ProspectsApi(client)
listed = prospects.create_list(api.CreateListInput(campaign=campaign.slug, name="List"))
rows = ("prospects.csv", b"primary_phone,first_name\\n+14155550123,Ada\\n")
upload = prospects.upload_prospects(listed.list_slug, original_data=rows, dedupe=True)
webhook = api.WebhooksApi(client).create_webhook(api.CreateWebhookInput(url="https://example.com/hook", types=["call.ended"]))
report = api.ReportsApi(client).get_dashboard(call_type="phone")
logs = calls.list_calls(status=["queued", "ringing"])

${PRINT}`

export const PYTHON_PROGRAMS = {
  'openapi-python-client': OPENAPI_PYTHON_CLIENT,
  'openapi-generator': OPENAPI_GENERATOR,
}
