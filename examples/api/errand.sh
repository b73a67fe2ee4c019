# Makes an agent and a number, places a call, prints how many calls there are.
set -eu
field() { node -p "JSON.parse(fs.readFileSync(0))$1"; }
api() {
  path=$1
  shift
  curl -sS --fail-with-body "$PATCHBAY_URL$path" -H "x-api-key: $PATCHBAY_KEY" -H 'content-type: application/json' "$@"
}

agent=$(api /agents -d '{"agent_name":"Ada","system_prompt":"You confirm orders."}' | field .agent_id)
number=$(api /phone-numbers -d "{\"phone_number\":\"+14155550100\",\"provider\":\"sim\",\"agent_id\":\"$agent\"}" | field .phone_number)
# Sent again with the same key, it is the same call.
for attempt in 1 2; do
  api /calls/outbound_call -H 'idempotency-key: order-4711' \
    -d "{\"agent_phone_number\":\"$number\",\"phone_number_to_dial\":\"+14155550199\"}" >/dev/null
done
api /calls/logs | field .total
