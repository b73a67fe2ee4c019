/** Bodies of the events published with `publishEvent` or `publishToOperators`, as in the OpenAPI document; triggers publish the others. */

/** Something of a workspace. */
export type WorkspaceEventInput =
  | { type: 'webhook.disabled'; agentId: string | null; data: { webhook_id: string; url: string; reason: string } }
  | { type: 'webhook.test'; data: { webhook_id: string } }
  | {
      type: 'campaign.completed'
      /** Of the campaign. */
      subject: string
      agentId: string | null
      data: { slug: string; name: string; active: boolean; paused: boolean; pause_reason: string | null }
    }
  | {
      type: 'prospect.added'
      /** Of the prospect, with which the event is erased. */
      subject: string
      /** Its row, and `campaign`: the slug of its campaign. */
      data: Record<string, unknown>
    }
  | {
      type: 'prospect.callback_missed'
      /** Of the prospect, with which the event is erased. */
      subject: string
      data: {
        uuid: string
        list_uuid: string
        campaign: string | null
        primary_phone: string
        /** ISO 8601. */
        call_back_at: string
        reason: string
      }
    }
  | {
      type: 'rollout.stopped'
      /** Of the agent. */
      subject: string
      agentId: string
      data: {
        agent_id: string
        agent_name: string
        rollout_id: string
        /** ISO 8601. */
        at: string
        version: number
        serves: number
        figure: string
        z: number
        boundary: number
        compared: { version: number; calls: number; mean: number }[]
      }
    }
  | {
      type: 'number.blocked'
      data: {
        phone_number: string
        blocked: number
        of_last: number
        /** ISO 8601. */
        rests_until: string
        reason: string | null
        call_log_id: string | null
      }
    }
  | {
      type: 'trunk.down' | 'trunk.up'
      /** Of the trunk. */
      subject: string
      data: { trunk_id: string; name: string; host: string; status: number; reason: string }
    }
  | {
      type: 'test.completed'
      agentId: string
      data: {
        run_id: string
        case_id: string
        agent_id: string
        name: string
        repeat: number
        verdict: string
        why: string | null
      }
    }
  | {
      type: 'test_run.completed'
      agentId: string
      data: {
        run_id: string
        agent_id: string
        version: string
        total: number
        passed: number
        failed: number
        unsure: number
        errors: number
      }
    }

/** Something of the installation. */
export interface OperatorEvent {
  type: 'worker.joined' | 'worker.lost'
  data: { worker_id: string; capacity: number }
}
