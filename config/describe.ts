import { withoutUserinfo } from '../runtime/lib/url-userinfo.ts'
import { type Config, SETTINGS, type Setting } from './schema.ts'

const MASK = '••••••••'

/** The text of `patchbay config`: every variable with its effective value, secrets masked, also those in addresses. */
export function describeConfig(config: Config): string {
  const entries = Object.entries(SETTINGS) as [keyof Config, Setting][]
  const width = Math.max(...entries.map(([, setting]) => setting.env.length))
  return entries.map(([name, setting]) => `${setting.env.padEnd(width)}  ${shown(setting, config[name])}`).join('\n')
}

function shown(setting: Setting, value: Config[keyof Config]): string {
  if (value === undefined) return '(unset)'
  if (setting.secret) return MASK
  return withoutUserinfo(Array.isArray(value) ? value.join(',') : String(value))
}
