import { type Host, ProviderError } from '../../packages/plugin/mod.ts'
import { loadSherpa, type Sherpa } from './sherpa.ts'

/** Throws a sentence where what runs the models is not installed, or its native code doesn't load here. */
export function requireRuntime({ modelsDir = '' }: Host): Sherpa {
  try {
    return loadSherpa(modelsDir)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    const here = `${process.platform} on ${process.arch}`
    const message = `Local speech can't be used: the package sherpa-onnx-node, which runs its models, does not load (${here}): ${why}. It is there for Linux with glibc, macOS and Windows; run: npm run patchbay models engine, or choose another provider`
    throw Object.assign(new ProviderError(message, { fault: 'bad_request' }), { cause })
  }
}
