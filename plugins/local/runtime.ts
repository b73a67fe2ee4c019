import { ProviderError } from '../../packages/plugin/mod.ts'

/** What runs the models: sherpa-onnx, an optional package with native code. */
export type Sherpa = typeof import('./sherpa.ts').sherpa

/** Throws a sentence where the package is not installed, or its native code doesn't load here. */
export async function requireRuntime(): Promise<Sherpa> {
  try {
    const { sherpa } = await import('./sherpa.ts')
    return sherpa
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    const here = `${process.platform} on ${process.arch}`
    const message = `Local speech can't be used: the package sherpa-onnx-node, which runs its models, does not load (${here}): ${why}. It is there for Linux with glibc, macOS and Windows; run npm ci, or choose another provider`
    throw Object.assign(new ProviderError(message, { fault: 'bad_request' }), { cause })
  }
}
