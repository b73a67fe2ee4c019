import { t } from '../../../language/t.ts'

/** As the forms of an agent call its fields. */
const NAMES: Readonly<Record<string, string>> = {
  agent_name: t('Name'),
  system_prompt: t('Prompt'),
  first_message: t('First message'),
  tools: t('Tools'),
  documents: t('Knowledge'),
  public: t('Web'),
  publishing: t('Publishing'),
  language: t('Language'),
  endpointing: t('End of turn'),
  keyterms: t('Key terms'),
  transcribe: t('What callers say is written by'),
  temperature: t('Temperature'),
  TTS_voice: t('Voice'),
  pronunciation: t('Pronunciation'),
  ai_disclosure: t('Says that it is an AI'),
  register: t('Form of address'),
  phrases: t('Own sentences'),
  interruption: t('Callers may interrupt'),
  dead_air: t('No dead air'),
  max_duration_s: t('Longest call, seconds'),
  idle_timeout_s: t('Patience, seconds'),
  recording: t('Records its calls'),
  recording_notice: t('Notice'),
  consent_message: t('Consent question'),
  voicemail: t('When an answering machine picks up'),
  voicemail_message: t('Message'),
  collect: t('Collects'),
  guardrails: t('Guardrails'),
  analysis: t('After the call'),
}

/** What a field of an agent is called; one that no form has, as the API does. */
export const fieldName = (field: string): string => NAMES[field] ?? field
