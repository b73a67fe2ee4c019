import { openaiRealtime } from '../../../../plugins/openai/realtime.ts'
import type { ProtocolQuirk } from '../support/quirk.ts'

const ERRORS = [
  { code: null, message: 'Audio content of 13600ms is already shorter than 55960ms' },
  { code: 'invalid_value', message: 'Audio content of 2650ms is already shorter than 9100ms' },
  { code: 'unsupported_content_type', message: 'Only model output audio messages can be truncated' },
  { code: 'item_delete_invalid_item_id', message: "Error deleting item: the item with id 'a' does not exist." },
  { code: 'response_cancel_not_active', message: 'Cancellation failed: no active response found' },
]

export default {
  kind: 'protocol',
  title: 'a cut of OpenAI’s speech-to-speech model that comes too late ends no session',
  report: 'pipecat-ai/pipecat#3677, livekit/agents#6157, openai/openai-agents-js#189',
  async run(t) {
    const { session } = openaiRealtime({ base: 'https://api.openai.com/v1', key: 'k' }, { settings: {} })
    const { parse } = session({ instructions: '', tools: [] })
    for (const error of ERRORS) {
      t.same(parse(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', ...error } })), [])
    }
    const empty = 'Error committing input audio buffer: buffer too small. Expected at least 100ms of audio.'
    const lost = { type: 'invalid_request_error', code: 'input_audio_buffer_commit_empty', message: empty }
    t.match(
      parse(JSON.stringify({ type: 'error', error: lost })),
      [{ type: 'failed', fault: { code: lost.code, status: undefined } }],
      'another session is asked',
    )
    const refused = { type: 'invalid_request_error', code: 'unsupported_content_type', message: 'No video here' }
    t.match(parse(JSON.stringify({ type: 'error', error: refused })), [{ type: 'failed', fault: { status: 400 } }])
  },
} satisfies ProtocolQuirk
