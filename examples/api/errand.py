"""Makes an agent and a number, places a call, prints how many calls there are."""

import os

from patchbay_client import Patchbay, every_page

patchbay = Patchbay(os.environ["PATCHBAY_URL"], os.environ["PATCHBAY_KEY"])
agent = patchbay.create_agent({"agent_name": "Ada", "system_prompt": "You confirm orders."})
number = patchbay.create_phone_number(
    {"phone_number": "+14155550100", "provider": "sim", "agent_id": agent["agent_id"]}
)
# Sent again with the same key, it is the same call.
for _ in range(2):
    patchbay.place_call(
        {"agent_phone_number": number["phone_number"], "phone_number_to_dial": "+14155550199"},
        idempotency_key="order-4711",
    )
print(len(list(every_page(lambda page: patchbay.list_calls({"page": page})))))
