import type { ExportReader } from './export-reader.ts'
import { filledText, ImportedAgent } from './imported-agent.ts'

/**
 * Assistants and squads as api.vapi.ai gives them: types of @vapi-ai/server-sdk 2.0.1 (npm, September 2026): Assistant, Squad, SquadMemberDto,
 * CreateFunctionToolDto, CreateApiRequestToolDto, CreateTransferCallToolDto, CreateHandoffToolDto, CreateMcpToolDto.
 */

const LLMS = { openai: 'openai', anthropic: 'anthropic', google: 'google' }
const STTS = {
  deepgram: 'deepgram',
  'assembly-ai': 'assemblyai',
  azure: 'azure',
  openai: 'openai',
  '11labs': 'elevenlabs',
  cartesia: 'cartesia',
}
const TTSS = { '11labs': 'elevenlabs', cartesia: 'cartesia', deepgram: 'deepgram', openai: 'openai', azure: 'azure' }
const VARIABLES = {
  now: 'now',
  date: 'today',
  time: 'time',
  'customer.number': 'caller_number',
  'phoneNumber.number': 'called_number',
  'call.id': 'call_id',
}
const OWN = ['id', 'orgId', 'createdAt', 'updatedAt', 'latestVersion']

export function importVapi(root: ExportReader): ImportedAgent[] {
  const taken = new Set<string>()
  /** By id and by name, since destinations have either. */
  const files = new Map<string, string>()
  const isSquad = (one: ExportReader): boolean => one.at('members').isThere
  const listed = Array.isArray(root.value)
    ? root.items()
    : root.at('assistants').isThere || root.at('squads').isThere
      ? [...root.at('assistants').items(), ...root.at('squads').items()]
      : [root]
  const shared = root.at('tools').items()
  const assistants = listed.flatMap((one): { from: ExportReader; member: ExportReader | undefined }[] =>
    isSquad(one)
      ? one
          .at('members')
          .items()
          .flatMap((member) => (member.at('assistant').isThere ? [{ from: member.at('assistant'), member }] : []))
      : [{ from: one, member: undefined }],
  )
  const prepared = assistants.map(({ from, member }) => {
    const shown = from.at('name').text() ?? 'Assistant'
    const agent = new ImportedAgent(shown, taken)
    const id = from.at('id').text()
    if (id !== undefined) files.set(id, agent.name)
    files.set(shown, agent.name)
    return { agent, from, member }
  })
  const byId = new Map(prepared.flatMap(({ agent, from }) => [[from.at('id').text() ?? '', agent]]))
  for (const { agent, from } of prepared) importAssistant(agent, from, { shared, files })
  for (const squad of listed.filter(isSquad)) {
    for (const member of squad.at('members').items()) {
      const id = member.at('assistantId').text()
      const agent = prepared.find((one) => one.member?.at().value === member.value)?.agent ?? byId.get(id ?? '')
      if (agent === undefined) {
        member.dropped(`the assistant ${id ?? ''} is not in the export: export it, too`)
        continue
      }
      member.at('assistantId').ignored()
      for (const to of member.at('assistantDestinations').items()) handOff(agent, to, files)
      member.at('assistantOverrides').dropped('an override for one squad alone: change the file')
    }
    squad.at('membersOverrides').dropped('overrides for all members: change the files')
    squad.at('name').dropped('a squad is no thing of its own: its members hand over to each other')
    for (const own of OWN) squad.at(own).ignored()
  }
  return prepared.map(({ agent }) => agent)
}

function importAssistant(
  agent: ImportedAgent,
  from: ExportReader,
  context: { shared: ExportReader[]; files: Map<string, string> },
): void {
  const server = from.at('server')
  for (const own of OWN) from.at(own).ignored()
  from.at('name').mapped('agent_name')
  const model = from.at('model')
  agent.provider('LLM', model.at('provider'), model.at('model'), LLMS)
  agent.set('temperature', model.at('temperature'), model.at('temperature').number())
  for (const message of model.at('messages').items()) {
    const content = message.at('content')
    if (message.at('role').text() !== 'system') {
      message.dropped('only system messages are a prompt')
      continue
    }
    message.at('role').ignored()
    agent.prompt(filled(content, 'system_prompt'))
  }
  const old = model.at('systemPrompt')
  agent.prompt(filled(old, 'system_prompt'))
  const first = from.at('firstMessage')
  const mode = from.at('firstMessageMode').text()
  if (mode === undefined || mode === 'assistant-speaks-first') {
    agent.set('first_message', first, first.isThere ? filled(first, 'first_message') : undefined)
    from.at('firstMessageMode').ignored()
  } else if (mode === 'assistant-waits-for-user') {
    agent.set('first_message', from.at('firstMessageMode'), '')
    first.dropped('the agent waits for the caller to speak')
  } else from.at('firstMessageMode').dropped('the model cannot make up the first message: write one')
  const voicemail = from.at('voicemailMessage')
  if (voicemail.text() !== undefined) {
    agent.set('voicemail_message', voicemail, filled(voicemail, 'voicemail_message'))
    agent.fields.voicemail = 'leave_message'
  }
  agent.set('max_duration_s', from.at('maxDurationSeconds'), within(from.at('maxDurationSeconds').number(), 10, 86_400))
  agent.provider('STT', from.at('transcriber', 'provider'), from.at('transcriber', 'model'), STTS)
  const language = from.at('transcriber', 'language')
  agent.set('language', language, language.text())
  for (const list of ['keyterm', 'keywords']) {
    const terms = from.at('transcriber', list)
    const words = terms.items().flatMap((one) => one.text()?.replace(/:-?\d+$/, '') ?? [])
    if (words.length > 0) agent.set('keyterms', terms, words)
  }
  agent.provider('TTS', from.at('voice', 'provider'), from.at('voice', 'voiceId'), TTSS)
  if (from.at('firstMessageInterruptionsEnabled').boolean() === false) {
    from
      .at('firstMessageInterruptionsEnabled')
      .dropped('that is so: a disclosure or notice is said to its end, a first message may be interrupted')
  }
  const words = from.at('stopSpeakingPlan', 'numWords')
  if ((words.number() ?? 0) > 2)
    agent.set(
      'interruption',
      words,
      { enabled: true, sensitivity: 'low' },
      'words before the agent stops: sensitivity low',
    )
  const wait = from.at('startSpeakingPlan', 'waitSeconds')
  if (wait.number() !== undefined) {
    agent.set(
      'endpointing',
      wait,
      (wait.number() ?? 0) >= 0.8 ? 'patient' : 'balanced',
      'Patchbay judges the end of a turn by its words; this is the nearest of its three manners',
    )
  }
  importAnalysis(agent, from.at('analysisPlan'))
  const ids = model.at('toolIds')
  for (const id of ids.items()) {
    const tool = context.shared.find((one) => one.at('id').value === id.value)
    if (tool === undefined) id.dropped('the tool is not in the export: add the answer of GET /tool as `tools`')
    else {
      id.mapped('tools')
      importTool(agent, tool, { files: context.files, assistantServer: server })
    }
  }
  for (const tool of model.at('tools').items())
    importTool(agent, tool, { files: context.files, assistantServer: server })
}

function importTool(
  agent: ImportedAgent,
  tool: ExportReader,
  { files, assistantServer }: { files: Map<string, string>; assistantServer: ExportReader },
): void {
  for (const own of [...OWN, 'type']) tool.at(own).ignored()
  const fn = tool.at('function')
  const description = fn.at('description').text() ?? tool.at('description').text() ?? ''
  const messages = tool.at('messages')
  messages.dropped('said while a tool runs: the phrases of `dead_air` are, for all tools')
  switch (tool.at('type').text()) {
    case 'function': {
      const server = tool.at('server', 'url').text() === undefined ? assistantServer : tool.at('server')
      const name = fn.at('name').text() ?? 'function'
      if (server.at('url').text() === undefined) {
        tool.dropped('neither it nor the assistant names a server: make it an `http` or `client` tool')
        return
      }
      const made = agent.tool({
        type: 'http',
        name,
        description: description || spoken(name),
        parameters: fn.at('parameters').record() ?? { type: 'object', properties: {} },
        http: {
          method: 'POST',
          url: server.at('url').text(),
          ...timeout(server.at('timeoutSeconds')),
          ...headersIn(agent, name, server.at('headers')),
        },
      })
      fn.mapped(`tools ${made}`)
      server
        .at('url')
        .mapped(
          `tools ${made}`,
          'the server gets the arguments as JSON, not Vapi’s `message.toolCallList`: it must be changed',
        )
      server.at('timeoutSeconds').ignored()
      return
    }
    case 'apiRequest': {
      const name = tool.at('name').text() ?? fn.at('name').text() ?? 'request'
      const body = tool.at('body')
      const headers = tool.at('headers', 'properties')
      const method = tool.at('method').text() ?? 'GET'
      const made = agent.tool({
        type: 'http',
        name,
        description: description || spoken(name),
        parameters: body.record() ?? { type: 'object', properties: {} },
        http: {
          method,
          url: tool.at('url').text() ?? '',
          ...timeout(tool.at('timeoutSeconds')),
          ...headersIn(agent, name, headers),
        },
      })
      for (const part of ['name', 'method', 'url', 'body', 'description', 'timeoutSeconds'])
        tool.at(part).mapped(`tools ${made}`)
      fn.ignored()
      tool.at('headers', 'type').ignored()
      return
    }
    case 'transferCall': {
      for (const to of tool.at('destinations').items()) {
        if (to.at('type').text() === 'assistant') {
          handOff(agent, to, files)
          continue
        }
        const number = to.at('number').text() ?? to.at('sipUri').text()
        if (number === undefined) {
          to.dropped('it has neither a number nor a SIP URI')
          continue
        }
        const mode = String(to.at('transferPlan', 'mode').value ?? '').startsWith('warm') ? 'warm' : 'blind'
        const name = to.at('name').text() ?? fn.at('name').text() ?? 'transfer_call'
        const made = agent.tool({
          type: 'transfer',
          name,
          description: to.at('description').text() ?? (description || 'Transfers the caller.'),
          to: number,
          mode,
        })
        to.at(to.at('number').isThere ? 'number' : 'sipUri').mapped(`tools ${made}`)
        to.at('type').ignored()
        for (const part of ['name', 'description']) to.at(part).mapped(`tools ${made}`)
        to.at('transferPlan', 'mode').mapped(
          `tools ${made}`,
          mode === 'warm' ? 'the caller’s summary is said to the callee' : undefined,
        )
        to.at('message').dropped('said before a transfer: the phrase `transferring`')
        to.at('callerId').dropped('a transfer calls from the agent’s own first number')
      }
      if (!tool.at('destinations').isThere)
        tool.dropped('a destination that a server names at the time: use a `handoff` to a webhook, or fixed numbers')
      fn.ignored()
      return
    }
    case 'handoff':
      for (const to of tool.at('destinations').items()) handOff(agent, to, files)
      fn.ignored()
      return
    case 'endCall':
      agent.tool({
        type: 'hang_up',
        name: fn.at('name').text() ?? 'end_call',
        description: description || 'Ends the call when the caller has said goodbye.',
      })
      fn.mapped('tools')
      return
    case 'dtmf':
      agent.tool({
        type: 'send_dtmf',
        name: fn.at('name').text() ?? 'send_dtmf',
        description: description || 'Presses keys on the line.',
      })
      fn.mapped('tools')
      return
    case 'query':
      agent.tool({
        type: 'knowledge',
        name: fn.at('name').text() ?? 'knowledge',
        description: description || 'Looks things up in the documents.',
      })
      fn.mapped('tools')
      tool
        .at('knowledgeBases')
        .dropped('the export has no files: put them into documents/<agent>/ and name them in `documents`')
      return
    case 'mcp': {
      const url = tool.at('server', 'url')
      const made = agent.tool({
        type: 'mcp',
        name: fn.at('name').text() ?? 'mcp',
        url: url.text() ?? '',
        ...headersIn(agent, 'mcp', tool.at('server', 'headers')),
      })
      url.mapped(`tools ${made}`)
      fn.ignored()
      return
    }
    default:
      tool.dropped(`Patchbay has no tool of the type ${tool.at('type').text() ?? 'of this export'}`)
  }
}

function handOff(agent: ImportedAgent, to: ExportReader, files: Map<string, string>): void {
  const id = to.at('assistantId').text()
  const name = to.at('assistantName').text()
  const file = files.get(id ?? '') ?? files.get(name ?? '')
  if (file === undefined) {
    to.dropped(`the assistant ${name ?? id ?? ''} is not in the export: export it, too`)
    return
  }
  const says = to.at('message').text()
  const made = agent.tool({
    type: 'handoff',
    name: `hand_off_to_${file.replace(/[^A-Za-z0-9]+/g, '_')}`,
    to: file,
    when: to.at('description').text() ?? `The caller needs ${name ?? file}.`,
    ...(says === undefined ? {} : { says }),
  })
  for (const part of ['assistantName', 'assistantId', 'description']) to.at(part).mapped(`tools ${made}`)
  if (says !== undefined) to.at('message').mapped(`tools ${made}`)
  to.at('type').ignored()
  to.at('transferMode').dropped('what the next agent knows is `carries`: all of the conversation by default')
}

function importAnalysis(agent: ImportedAgent, plan: ExportReader): void {
  const rubric = plan.at('successEvaluationPlan', 'messages')
  const schema = plan.at('structuredDataPlan', 'schema')
  if (schema.record() !== undefined) {
    agent.fields.analysis = { summary: true, data: schema.record() }
    schema.mapped('analysis.data')
    plan.at('structuredDataPlan', 'enabled').ignored()
  }
  plan.at('summaryPlan', 'enabled').ignored()
  rubric.dropped('what counts as success is a sentence in `analysis.success`: write one')
}

const filled = (from: ExportReader, field: string): string => filledText(from, field, VARIABLES)

const spoken = (name: string): string => `${name.replace(/[_-]+/g, ' ')}.`
const within = (value: number | undefined, least: number, most: number): number | undefined =>
  value === undefined ? undefined : Math.round(Math.min(most, Math.max(least, value)))

function timeout(seconds: ExportReader): { timeout_ms?: number } {
  const value = seconds.number()
  return value === undefined ? {} : { timeout_ms: Math.min(15_000, Math.max(100, value * 1_000)) }
}

function headersIn(agent: ImportedAgent, tool: string, headers: ExportReader): { headers?: Record<string, string> } {
  const given = agent.headers(tool, headers)
  return given === undefined ? {} : { headers: given }
}
