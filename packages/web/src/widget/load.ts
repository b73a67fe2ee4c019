import type { PatchbayCall } from '../patchbay-call.ts'

/** Put here by the build: where the library lies beside the widget on its server; empty where it is bundled with it. */
declare const CLIENT_PATH: string

/** The class of calls, which a page needs only once somebody wants to talk. */
export async function loadCall(server: string): Promise<typeof PatchbayCall> {
  const module: { PatchbayCall: typeof PatchbayCall } =
    CLIENT_PATH === '' ? await import('../patchbay-call.ts') : await import(new URL(CLIENT_PATH, server).href)
  return module.PatchbayCall
}

/** The words of languages that few pages speak. */
export async function loadMoreWords(server: string): Promise<Readonly<Record<string, string>>> {
  const module: { MORE_WORDS: Readonly<Record<string, string>> } =
    CLIENT_PATH === ''
      ? await import('./more-words.ts')
      : await import(new URL('more-words.js', new URL(CLIENT_PATH, server)).href)
  return module.MORE_WORDS
}
