import { PatchbayError } from '../../lib/errors.ts'
import { printable } from '../../lib/printable.ts'
import { type ListedPlugin, listedWith, readCatalogs } from './catalog.ts'
import { wishesIn } from './missing-grants.ts'

const MAX_SHOWN = 50

/** What the catalogs list that has all of the words, for the terminal. Throws `plugin` where no catalog can be read, or none is configured. */
export async function describeCatalogs(places: readonly string[], words: readonly string[]): Promise<string> {
  if (places.length === 0) {
    throw fault('No catalog is configured: set PATCHBAY_PLUGIN_CATALOGS (docs/plugins.md#catalogs)')
  }
  const { plugins, faults } = await readCatalogs(places, Date.now())
  if (faults.length === places.length) throw fault(faults.map(printable).join('\n'))
  const found = listedWith(plugins, words)
  const shown = found.slice(0, MAX_SHOWN).map(describe)
  const more = found.length > MAX_SHOWN ? [`${found.length - MAX_SHOWN} more: search for more words`] : []
  const none = found.length === 0 ? ['No catalog lists such a plugin.'] : []
  return [...shown, ...more, ...none, ...faults.map(printable)].join('\n')
}

function describe({
  name,
  version,
  publisher,
  kinds,
  description,
  permissions,
  conformance,
  catalog,
}: ListedPlugin): string {
  const wishes = wishesIn({ permissions }).map(({ sentence }) => sentence)
  const asks = wishes.length === 0 ? 'Asks for nothing.' : `Wants to ${wishes.join(', to ')}.`
  const suite =
    conformance === undefined ? '' : ` Passed the suite of contract ${conformance.specification} on ${conformance.on}.`
  return [
    printable(`${name} ${version}  ${kinds.join(', ')}  by ${publisher}`),
    printable(`  ${description} ${asks}${suite}`),
    printable(`  In "${catalog}": patchbay plugins add catalog:${name}`),
  ].join('\n')
}

const fault = (reason: string): PatchbayError => new PatchbayError('plugin', { params: { reason } })
