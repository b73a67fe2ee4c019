/** Whether a call is recorded. @param isAsked by the installation or by the session @param wish of the agent */
export function isRecordedBy(isAsked: boolean, wish: 'default' | 'on' | 'off' = 'default'): boolean {
  return wish === 'default' ? isAsked : wish === 'on'
}
