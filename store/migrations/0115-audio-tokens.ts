/** Tokens that are sound, parts of a call's tokens: of speech-to-speech models; null where no provider said anything of them. */
export const sql = `
alter table calls
  add column llm_audio_input_tokens bigint,
  add column llm_audio_output_tokens bigint,
  add column llm_cached_audio_tokens bigint;
`
