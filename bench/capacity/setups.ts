/** What an agent is made of, by the name that the table has for it. */
export const SETUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Deepgram Nova, Anthropic, ElevenLabs': {
    STT_provider: 'deepgram',
    LLM_provider: 'anthropic',
    TTS_provider: 'elevenlabs',
  },
  'Deepgram Flux, OpenAI, Cartesia': {
    ...{ STT_provider: 'deepgram', STT_model: 'flux-general-en' },
    ...{ LLM_provider: 'openai', TTS_provider: 'cartesia' },
  },
  'AssemblyAI, Google, Azure': { STT_provider: 'assemblyai', LLM_provider: 'google', TTS_provider: 'azure' },
  'OpenAI speech-to-speech, Deepgram Nova': {
    ...{ STT_provider: 'deepgram', LLM_provider: 'openai', LLM_model: 'gpt-realtime-2.1' },
    ...{ TTS_provider: 'openai', TTS_voice: 'marin' },
  },
}
