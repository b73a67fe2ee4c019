/** What callers say, and what the agent answers: each answer can be told from every other, and a long one from its beginning. */
export const SPOKEN = [
  { question: 'Where can I park?', answer: 'Behind the house there are twenty places.' },
  { question: 'What time do you close?', answer: 'We close at eleven in the evening.' },
  { question: 'Are you open on Sunday?', answer: 'On Sundays we are closed all day.' },
] as const

export const TYPED = {
  question: 'How many seats do you have?',
  answer: 'There are forty seats in the garden.',
} as const
export const LONG = {
  question: 'Tell me the whole story.',
  answer:
    'It began with a small boat and two brothers. They sold what they caught on this pier. Later they built a house with their own hands. That is the whole story.',
} as const
export const TOOL = { question: 'Book a table for me.', answer: 'Your booking has the number {output}.' } as const

export const SCRIPT = [
  ...[...SPOKEN, TYPED, LONG].map(({ question, answer }) => ({ question, answer })),
  { ...TOOL, tool: { name: 'book', arguments: { table: 'window' } } },
]

/** By what agents hear, think and speak: the simulated providers, or a speech-to-speech model. */
export const AGENTS = {
  pipeline: {
    ...{ LLM_provider: 'sim', LLM_model: JSON.stringify({ firstTokenMs: 150, tokensPerSecond: 60, script: SCRIPT }) },
    ...{ STT_provider: 'sim', STT_model: 'default', TTS_provider: 'sim', TTS_voice: 'tone' },
  },
  speech_to_speech: {
    ...{ LLM_provider: 'openai', LLM_model: 'gpt-realtime-2.1' },
    ...{ STT_provider: 'sim', STT_model: 'default', TTS_provider: 'openai', TTS_voice: 'marin' },
  },
} as const

/** An agent that books at this port of this machine. */
export function agentOf(port: number, kind: keyof typeof AGENTS): Record<string, unknown> {
  return {
    ...AGENTS[kind],
    agent_name: 'Under fire',
    first_message: 'Hello.',
    system_prompt: 'You are a test.',
    dead_air: { enabled: false },
    // On a busy machine workers take minutes to be back: no caller hangs up meanwhile.
    idle_timeout_s: 600,
    max_duration_s: 7_200,
    tools: [
      {
        type: 'http',
        name: 'book',
        description: 'Books a table.',
        parameters: { type: 'object', properties: { table: { type: 'string' } } },
        http: { method: 'POST', url: `http://127.0.0.1:${port}/bookings`, headers: {}, timeout_ms: 10_000 },
      },
    ],
  }
}
