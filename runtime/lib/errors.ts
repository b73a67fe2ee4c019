/**
 * Every error Patchbay raises on purpose: its code, the HTTP status a caller would see, the sentence
 * the caller reads, and whether trying again can help. `{name}` in a sentence is filled from `params`.
 * The 4xx and 5xx sentences are the specification's section 7.2 and decisions.md, to the letter.
 */
export const ERRORS = {
  // 400
  malformed_request: { status: 400, retryable: false, detail: 'Malformed request' },
  malformed_body: { status: 400, retryable: false, detail: 'Malformed body' },
  wrong_content_type: {
    status: 400,
    retryable: false,
    detail: 'Malformed body: the header content-type must be {type}',
  },
  body_too_large: { status: 400, retryable: false, detail: 'Body too large' },
  body_too_deep: { status: 400, retryable: false, detail: 'Body nested too deeply' },
  body_too_many_fields: { status: 400, retryable: false, detail: 'Body has too many fields' },
  file_too_large: { status: 400, retryable: false, detail: 'File too large' },
  invalid_phone_number: { status: 400, retryable: false, detail: 'Invalid phone number format' },
  csv_without_phone_number: { status: 400, retryable: false, detail: 'CSV must have a phone_number column' },
  csv_too_many_columns: { status: 400, retryable: false, detail: 'CSV has too many columns' },
  csv_without_rows: { status: 400, retryable: false, detail: 'CSV has no rows' },
  csv_without_primary_phone: { status: 400, retryable: false, detail: 'CSV must have a primary_phone column' },
  csv_without_column: { status: 400, retryable: false, detail: 'CSV lacks a column that is named' },
  /** Also why a call ends that can't begin. */
  agent_text_too_long: {
    status: 400,
    retryable: false,
    detail:
      'Agent’s {field} has {kib} KiB with its variables filled in; at most {max_kib} KiB are taken: shorten it, or their values',
  },
  metadata_too_large: {
    status: 400,
    retryable: false,
    detail: 'Metadata has more than 16 keys, a key of more than 64 or a value of more than 500 characters',
  },
  csv_row_too_long: { status: 400, retryable: false, detail: 'CSV has a row of more than 64 KiB' },
  workbook_unreadable: {
    status: 400,
    retryable: false,
    detail:
      'Workbook is damaged, has a password or is of the old .xls format: save it as .xlsx without a password, or as CSV',
  },
  workbook_too_large: {
    status: 400,
    retryable: false,
    detail: 'Workbook has more than 100,000 rows, 32 MiB or 256 MiB unpacked: save it as CSV, or in parts',
  },
  campaign_running: { status: 400, retryable: false, detail: 'Campaign is currently running' },
  prospect_list_running: { status: 400, retryable: false, detail: 'Prospect list is currently running' },
  batch_running: { status: 400, retryable: false, detail: 'Batch is currently running' },
  settings_unusable: { status: 400, retryable: false, detail: 'Settings can’t be used: {reason}' },
  link_invalid: { status: 400, retryable: false, detail: 'Link is used, expired or unknown' },
  mail_off: { status: 400, retryable: false, detail: 'No mail server is set; ask the operator for a link' },
  last_admin: { status: 400, retryable: false, detail: 'Workspace must keep an admin' },
  // 401
  invalid_token: { status: 401, retryable: false, detail: 'Invalid or missing token' },
  /** A key that is good, for an endpoint that takes no keys, or more than its scopes allow. The sentence is the specification's. */
  key_not_allowed: { status: 401, retryable: false, detail: 'Invalid or missing token' },
  insufficient_scope: { status: 401, retryable: false, detail: 'Invalid or missing token' },
  token_expired: { status: 401, retryable: false, detail: 'Token expired' },
  invalid_api_key: { status: 401, retryable: false, detail: 'Invalid API key' },
  user_not_found: { status: 401, retryable: false, detail: 'User not found' },
  wrong_credentials: { status: 401, retryable: false, detail: 'Invalid email or password' },
  // 403
  insufficient_permissions: { status: 403, retryable: false, detail: 'Insufficient permissions' },
  not_a_member: { status: 403, retryable: false, detail: 'Not a member of this workspace' },
  admin_required: { status: 403, retryable: false, detail: 'Admin access required' },
  /** A request to /telephony that its carrier didn't sign. */
  forged_request: { status: 403, retryable: false, detail: 'Signature does not match' },
  cross_origin: { status: 403, retryable: false, detail: 'Cross-origin request refused' },
  origin_refused: {
    status: 403,
    retryable: false,
    detail: 'Agent may not be talked to from this page; its public.origins must name {origin}',
  },
  operator_required: { status: 403, retryable: false, detail: 'Operator access required' },
  sso_failed: { status: 403, retryable: true, detail: 'The identity provider did not sign you in' },
  sso_email_unverified: {
    status: 403,
    retryable: false,
    detail: 'The identity provider does not vouch for an e-mail address of yours',
  },
  signup_closed: { status: 403, retryable: false, detail: 'Signup is closed' },
  setup_token_missing: {
    status: 403,
    retryable: false,
    detail:
      'The first user signs up from the machine itself or with setup_token, which the start and "npm run patchbay admin setup-token" print',
  },
  setup_token_wrong: {
    status: 403,
    retryable: false,
    detail: 'Setup token is wrong; the start and "npm run patchbay admin setup-token" print it',
  },
  quota_reached: { status: 403, retryable: false, detail: 'Quota reached: {quota}' },
  own_keys_refused: {
    status: 403,
    retryable: false,
    detail: 'The operator lets this workspace use no keys of its own',
  },
  purchases_refused: { status: 403, retryable: false, detail: 'The operator allows this workspace no purchases' },
  number_not_assigned: {
    status: 403,
    retryable: false,
    detail:
      "{phone_number} is a number of the operator's {provider} account and not given to this workspace; ask an operator to give it (POST /operator/phone-numbers)",
  },
  workspace_suspended: { status: 403, retryable: false, detail: 'Workspace is suspended' },
  // 404, 405
  not_found: { status: 404, retryable: false, detail: 'Not Found' },
  agent_not_found: { status: 404, retryable: false, detail: 'Agent not found' },
  version_not_found: { status: 404, retryable: false, detail: 'Version not found' },
  rollout_not_found: { status: 404, retryable: false, detail: 'Agent has no rollout' },
  document_not_found: { status: 404, retryable: false, detail: 'Document not found' },
  chat_not_found: { status: 404, retryable: false, detail: 'Chat not found' },
  batch_not_found: { status: 404, retryable: false, detail: 'Batch not found' },
  campaign_not_found: { status: 404, retryable: false, detail: 'Campaign not found' },
  prospect_list_not_found: { status: 404, retryable: false, detail: 'Prospect list not found' },
  upload_not_found: { status: 404, retryable: false, detail: 'Upload not found' },
  prospect_not_found: { status: 404, retryable: false, detail: 'Prospect not found' },
  carrier_number_not_found: { status: 404, retryable: false, detail: 'No workspace was given this number' },
  do_not_call_not_found: { status: 404, retryable: false, detail: 'Phone number is not on the do-not-call list' },
  webhook_not_found: { status: 404, retryable: false, detail: 'Webhook not found' },
  delivery_not_found: { status: 404, retryable: false, detail: 'Delivery not found' },
  test_not_found: { status: 404, retryable: false, detail: 'Test not found' },
  test_run_not_found: { status: 404, retryable: false, detail: 'Test run not found' },
  turn_not_found: { status: 404, retryable: false, detail: 'Turn not found' },
  recording_not_found: { status: 404, retryable: false, detail: 'Recording not found' },
  call_log_not_found: { status: 404, retryable: false, detail: 'Call log not found' },
  workspace_not_found: { status: 404, retryable: false, detail: 'Workspace not found' },
  member_not_found: { status: 404, retryable: false, detail: 'Member not found' },
  api_key_not_found: { status: 404, retryable: false, detail: 'API key not found' },
  phone_number_not_found: { status: 404, retryable: false, detail: 'Phone number not found' },
  trunk_host_not_found: { status: 404, retryable: false, detail: 'Trunk host not found' },
  invitation_not_found: { status: 404, retryable: false, detail: 'Invitation not found' },
  session_not_found: { status: 404, retryable: false, detail: 'Session not found' },
  extension_not_found: { status: 404, retryable: false, detail: 'Extension not found' },
  models_elsewhere: {
    status: 409,
    retryable: false,
    detail: 'Models are downloaded where the voice workers run: npm run patchbay models',
  },
  download_running: { status: 409, retryable: true, detail: 'Another download is running' },
  provider_not_found: { status: 404, retryable: false, detail: 'No such provider, or it takes no key' },
  trunk_not_found: { status: 404, retryable: false, detail: 'Trunk not found' },
  worker_pool_rule_not_found: { status: 404, retryable: false, detail: 'Rule not found' },
  worker_not_found: { status: 404, retryable: false, detail: 'Voice worker not found' },
  method_not_allowed: { status: 405, retryable: false, detail: 'Method Not Allowed' },
  // 410
  events_gone: {
    status: 410,
    retryable: false,
    detail: 'Events are kept for 30 days, and those after this one are gone; begin with 0-0',
  },
  // 409
  email_taken: { status: 409, retryable: false, detail: 'Email already registered' },
  batch_not_running: { status: 409, retryable: false, detail: 'Batch is not running' },
  batch_not_paused: { status: 409, retryable: false, detail: 'Batch is not paused' },
  batch_over: { status: 409, retryable: false, detail: 'Batch is over' },
  batch_not_retryable: {
    status: 409,
    retryable: false,
    detail: 'Batch was not sent or is canceled; only a batch that ran can be called again',
  },
  batch_without_failures: { status: 409, retryable: false, detail: 'Batch has no failed calls to make again' },
  tests_failed: { status: 409, retryable: false, detail: 'Tests did not pass: {tests} (run {run_id})' },
  call_without_words: {
    status: 409,
    retryable: false,
    detail: 'The caller said nothing: there is no test to make of it',
  },
  test_run_over: { status: 409, retryable: false, detail: 'Test run is over' },
  batch_sent: { status: 409, retryable: false, detail: 'Batch already sent' },
  agent_in_use: { status: 409, retryable: false, detail: 'Agent is handed callers by {agents}' },
  phone_number_taken: { status: 409, retryable: false, detail: 'Phone number already registered' },
  extension_taken: { status: 409, retryable: false, detail: 'Extension name already taken' },
  too_many_extensions: { status: 409, retryable: false, detail: 'The workspace has as many extensions as it may' },
  trunk_taken: { status: 409, retryable: false, detail: 'Trunk name already taken' },
  trunk_host_taken: {
    status: 409,
    retryable: false,
    detail: 'Trunk host belongs to another workspace; ask the operator to approve it for yours',
  },
  trunk_address_taken: {
    status: 409,
    retryable: false,
    detail: 'Address {address} belongs to a trunk of another workspace; ask the operator to approve it for yours',
  },
  call_running: { status: 409, retryable: true, detail: 'Call is not over; hang it up first' },
  trunk_in_use: { status: 409, retryable: false, detail: 'Trunk is used by phone numbers' },
  do_not_call: { status: 409, retryable: false, detail: 'Phone number is on the do-not-call list' },
  prospect_exists: { status: 409, retryable: false, detail: 'Prospect already exists' },
  prospect_calling: { status: 409, retryable: false, detail: 'Prospect is being called' },
  prospect_resolved: { status: 409, retryable: false, detail: 'Prospect is resolved' },
  campaign_without_agent: { status: 409, retryable: false, detail: 'Campaign has no agent' },
  campaign_without_number: { status: 409, retryable: false, detail: 'Campaign has no number to call from' },
  version_in_use: { status: 409, retryable: false, detail: 'Version is live or part of a rollout' },
  draft_unpublished: {
    status: 409,
    retryable: false,
    detail: 'Draft has unpublished changes; publish them, or give them up with ?replace=true',
  },
  publish_running: { status: 409, retryable: true, detail: 'Agent is being published by another request' },
  call_not_over: { status: 409, retryable: false, detail: 'Call is not over' },
  call_over: { status: 409, retryable: false, detail: 'Call is over' },
  session_exists: { status: 409, retryable: false, detail: 'Session already exists' },
  /** A request of the same key that has not answered yet, or whose process ended before it could. */
  idempotency_unsettled: {
    status: 409,
    retryable: false,
    detail:
      'A request with this Idempotency-Key has not answered; look whether it took effect before you send it with another key',
  },
  // 412
  /** `last_change`: who did what since, behind a colon, or nothing. */
  precondition_failed: {
    status: 412,
    retryable: false,
    detail: 'Resource is not as If-Match says; read it again{last_change}',
  },
  // 429
  too_many_attempts: { status: 429, retryable: true, detail: 'Too many attempts; try again later' },
  too_many_sessions: { status: 429, retryable: true, detail: 'Too many calls from this address; try again later' },
  agent_busy: {
    status: 429,
    retryable: true,
    detail: 'Agent has as many calls as it may have at once; try again later',
  },
  // 422: the body of a validation error is a list, see api/schema.ts
  validation: { status: 422, retryable: false, detail: 'Validation error' },
  // 500, 503
  /** An external service failed at a caller's request: its name, then its own words. */
  provider_fault: { status: 500, retryable: true, detail: '{provider} error: {detail}' },
  internal: { status: 500, retryable: true, detail: 'Internal server error' },
  /** The specification's 500 of a database error, for one that isn't there now. */
  database_unavailable: { status: 500, retryable: true, detail: 'Internal server error' },
  /** With the operator's sentence. */
  maintenance: { status: 503, retryable: true, detail: 'Maintenance, no new call is taken: {message}' },
  unavailable: { status: 503, retryable: true, detail: 'Service unavailable' },
  // not of HTTP: configuration, plugins, sessions
  configuration: { status: 500, retryable: false, detail: '{reason}' },
  permission_denied: { status: 500, retryable: false, detail: '{reason}' },
  plugin: { status: 500, retryable: false, detail: '{reason}' },
  no_capacity: { status: 503, retryable: true, detail: 'No voice worker is free' },
  link_lost: { status: 503, retryable: true, detail: 'The link to the voice worker was lost' },
  timeout: { status: 503, retryable: true, detail: '{action} did not finish within {timeoutMs} ms' },
} as const satisfies Record<string, { status: number; retryable: boolean; detail: string }>

export type ErrorCode = keyof typeof ERRORS

/** An error of the table above. `message` is the caller's sentence; `cause` is for the operator's log only. */
export class PatchbayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly retryable: boolean
  /** What fills the sentence's places. */
  readonly params: Readonly<Record<string, string | number>>
  /** What the answer's head says beside it. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    options: ErrorOptions & {
      params?: Record<string, string | number>
      headers?: Record<string, string>
      /** What is known about it and may be read by the caller; follows the sentence of the table. */
      reason?: string | undefined
    } = {},
  ) {
    const entry = ERRORS[code]
    const sentence = entry.detail.replace(/\{(\w+)\}/g, (_, name: string) => String(options.params?.[name] ?? ''))
    const message = options.reason === undefined ? sentence : `${sentence}: ${options.reason}`
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'PatchbayError'
    this.code = code
    this.status = entry.status
    this.retryable = entry.retryable
    this.params = options.params ?? {}
    this.headers = options.headers ?? {}
  }

  /** The same error with more to say in the answer's head. */
  withHeaders(headers: Record<string, string>): this {
    Object.assign(this, { headers: { ...this.headers, ...headers } })
    return this
  }
}
