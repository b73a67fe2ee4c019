import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Graph, type Node, onnx, type Value } from './onnx.ts'

/**
 * Models of a few hundred bytes with the inputs, outputs and metadata of the published ones, for tests of what loads and
 * runs them. Ears know two words: a low tone is `low`, a high one `high`. Voices sound one tone for as long as the text.
 */

const floats = (shape: readonly number[], values: readonly number[]) => ({ type: 'float' as const, shape, values })
const longs = (values: readonly number[], shape: readonly number[] = [values.length]) => ({
  type: 'int64' as const,
  shape,
  values,
})
const node = (op: string, inputs: string, output: string, attributes: Node['attributes'] = {}): Node => ({
  op,
  inputs: inputs.split(' '),
  outputs: [output],
  attributes,
})
const float = (name: string, ...shape: (number | string)[]): Value => ({ name, type: 'float', shape })
const long = (name: string, ...shape: (number | string)[]): Value => ({ name, type: 'int64', shape })
const int = (name: string, ...shape: (number | string)[]): Value => ({ name, type: 'int32', shape })

/** Says the word of the half of the bins that is louder by more than the margin; else the blank. `blank`: its place. */
function scores(bins: number, margin: number, blank: 'first' | 'last') {
  const half = bins / 2
  const low = Array.from({ length: bins }, (_, bin) => (bin < half ? 1 : -1) / half)
  const words = [low, low.map((weight) => -weight)]
  const silence = Array.from({ length: bins }, () => 0)
  const columns = blank === 'first' ? [silence, ...words] : [...words, silence]
  return { columns, bias: columns.map((column) => (column === silence ? 0 : -margin)) }
}

/** A word is said once, until another was. */
function onceEach(blank: 'first' | 'last'): number[] {
  const words = blank === 'first' ? [1, 2] : [0, 1]
  return [0, 1, 2].flatMap((last) => [0, 1, 2].map((next) => (last === next && words.includes(last) ? -1_000 : 0)))
}

const WORDS = { first: ['<blk>', '▁LOW', '▁HIGH'], last: ['▁low', '▁high', '<blk>'] }
const tokensOf = (blank: 'first' | 'last'): string => WORDS[blank].map((word, id) => `${word} ${id}\n`).join('')

/** A streaming Zipformer transducer, as sherpa-onnx-streaming-zipformer-en-2023-06-26 is. */
export function streamingTransducer(): Record<string, Buffer | string> {
  const { columns, bias } = scores(80, 1, 'first')
  const states = [
    float('cached_key_0', 4, 'N', 8),
    float('cached_nonlin_attn_0', 1, 'N', 4, 6),
    float('cached_val1_0', 4, 'N', 8),
    float('cached_val2_0', 4, 'N', 8),
    float('cached_conv1_0', 'N', 8, 1),
    float('cached_conv2_0', 'N', 8, 1),
    float('embed_states', 'N', 128, 3, 19),
    long('processed_lens', 'N'),
  ]
  const encoder: Graph = {
    inputs: [float('x', 'N', 45, 80), ...states],
    outputs: [float('encoder_out', 'N', 8, 3), ...states.map((one) => ({ ...one, name: `new_${one.name}` }))],
    constants: {
      from: longs([0]),
      to: longs([32]),
      axis: longs([1]),
      step: longs([4]),
      weights: floats(
        [80, 3],
        Array.from({ length: 80 }, (_, bin) => columns.map((column) => column[bin] ?? 0)).flat(),
      ),
      bias: floats([3], bias),
    },
    nodes: [
      node('Slice', 'x from to axis step', 'every_fourth'),
      node('MatMul', 'every_fourth weights', 'scored'),
      node('Add', 'scored bias', 'encoder_out'),
      ...states.map(({ name }) => node('Identity', name, `new_${name}`)),
    ],
    metadata: {
      model_type: 'zipformer2',
      version: 1,
      encoder_dims: '8',
      query_head_dims: '8',
      value_head_dims: '8',
      num_heads: '1',
      num_encoder_layers: '1',
      cnn_module_kernels: '3',
      left_context_len: '4',
      T: 45,
      decode_chunk_len: 32,
    },
  }
  const decoder: Graph = {
    inputs: [long('y', 'N', 2)],
    outputs: [float('decoder_out', 'N', 3)],
    constants: { last: longs([1], []), table: floats([3, 3], onceEach('first')) },
    nodes: [node('Gather', 'y last', 'token', { axis: 1 }), node('Gather', 'table token', 'decoder_out', { axis: 0 })],
    metadata: { vocab_size: 3, context_size: 2 },
  }
  const joiner: Graph = {
    inputs: [float('encoder_out', 'N', 3), float('decoder_out', 'N', 3)],
    outputs: [float('logit', 'N', 3)],
    constants: {},
    nodes: [node('Add', 'encoder_out decoder_out', 'logit')],
    metadata: { joiner_dim: 3 },
  }
  return {
    'encoder-epoch-99-avg-1-chunk-16-left-128.int8.onnx': onnx(encoder),
    'decoder-epoch-99-avg-1-chunk-16-left-128.onnx': onnx(decoder),
    'joiner-epoch-99-avg-1-chunk-16-left-128.int8.onnx': onnx(joiner),
    'tokens.txt': tokensOf('first'),
  }
}

/** A NeMo transducer that predicts durations, as sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8 is. */
export function nemoTransducer(): Record<string, Buffer | string> {
  const { columns, bias } = scores(128, 0.5, 'last')
  const encoder: Graph = {
    inputs: [float('audio_signal', 'N', 128, 'T'), long('length', 'N')],
    outputs: [float('outputs', 'N', 3, 'U'), long('encoded_lengths', 'N')],
    constants: {
      weights: floats([3, 128], columns.flat()),
      bias: floats([3, 1], bias),
      from: longs([0]),
      to: longs([1_000_000]),
      axis: longs([2]),
      step: longs([8]),
      last: longs([2]),
    },
    nodes: [
      node('MatMul', 'weights audio_signal', 'scored'),
      node('Add', 'scored bias', 'biased'),
      node('Slice', 'biased from to axis step', 'outputs'),
      node('Shape', 'outputs', 'shape'),
      node('Gather', 'shape last', 'encoded_lengths', { axis: 0 }),
    ],
    metadata: {
      vocab_size: 2,
      normalize_type: 'per_feature',
      pred_rnn_layers: 2,
      pred_hidden: 4,
      subsampling_factor: 8,
      model_type: 'EncDecRNNTBPEModel',
      version: 2,
      model_author: 'NeMo',
      feat_dim: 128,
      url: 'https://huggingface.co/nvidia/parakeet-tdt-0.6b-v3',
    },
  }
  const states = [float('states.1', 2, 'N', 4), float('onnx::Slice_3', 2, 'N', 4)]
  const decoder: Graph = {
    inputs: [int('targets', 'N', 1), int('target_length', 'N'), ...states],
    outputs: [
      float('outputs', 'N', 3, 1),
      int('prednet_lengths', 'N'),
      float('states', 2, 'N', 4),
      float('162', 2, 'N', 4),
    ],
    constants: { table: floats([3, 3], onceEach('last')) },
    nodes: [
      node('Gather', 'table targets', 'looked_up', { axis: 0 }),
      node('Transpose', 'looked_up', 'outputs', { perm: [0, 2, 1] }),
      node('Identity', 'target_length', 'prednet_lengths'),
      node('Identity', 'states.1', 'states'),
      node('Identity', 'onnx::Slice_3', '162'),
    ],
    metadata: {},
  }
  const joiner: Graph = {
    inputs: [float('encoder_outputs', 'N', 3, 1), float('decoder_outputs', 'N', 3, 1)],
    outputs: [float('outputs', 'N', 1, 1, 8)],
    // Of the durations 0 to 4 it always says 1.
    constants: { durations: floats([1, 1, 1, 5], [0, 9, 0, 0, 0]), shape: longs([1, 1, 1, 3]) },
    nodes: [
      node('Add', 'encoder_outputs decoder_outputs', 'sum'),
      node('Reshape', 'sum shape', 'tokens'),
      node('Concat', 'tokens durations', 'outputs', { axis: 3 }),
    ],
    metadata: {},
  }
  return {
    'encoder.int8.onnx': onnx(encoder),
    'decoder.int8.onnx': onnx(decoder),
    'joiner.int8.onnx': onnx(joiner),
    'tokens.txt': tokensOf('last'),
  }
}

/** Nodes that sound a tone of `hz` for `seconds` (both names of scalars), as the tensor `tone` of one dimension. */
function tone(rateHz: number): { constants: Graph['constants']; nodes: Node[] } {
  return {
    constants: {
      zero: floats([], [0]),
      one: floats([], [1]),
      rate: floats([], [rateHz]),
      turn: floats([], [(2 * Math.PI) / rateHz]),
      loudness: floats([], [0.4]),
    },
    nodes: [
      node('Mul', 'seconds rate', 'samples'),
      node('Range', 'zero samples one', 'counted'),
      node('Mul', 'turn hz', 'angle_each'),
      node('Mul', 'counted angle_each', 'angles'),
      node('Sin', 'angles', 'wave'),
      node('Mul', 'wave loudness', 'tone'),
    ],
  }
}

/** Nodes that make `seconds` of how many tokens there are, each `each_s` long, times the scalar `slower`. */
const lasting = (tokens: string): Node[] => [
  node('Shape', tokens, 'shape'),
  node('Gather', 'shape where', 'count', { axis: 0 }),
  node('Cast', 'count', 'counted_tokens', { to: 1 }),
  node('Mul', 'counted_tokens each_s', 'natural'),
  node('Mul', 'natural slower', 'seconds'),
]

const PHONEMES = [...'_^$ abdefhijklmnoprstuvwzæðŋɐɑɔəɛɜɡɪɹʃʊʌʒˈˌːθᵻɾ.,?!;:-']
const phonemes = (): string => PHONEMES.map((one, id) => `${one} ${id}\n`).join('')

/** A Piper voice, as vits-piper-en_GB-alba-medium is. Its pronunciation is Debian's espeak-ng-data. */
export function piperVoice(file: string, voice = 'en-gb-x-rp'): Record<string, Buffer | string> {
  const { constants, nodes } = tone(22_050)
  const graph: Graph = {
    inputs: [long('input', 'N', 'L'), long('input_lengths', 'N'), float('scales', 3)],
    outputs: [float('output', 'N', 1, 1, 'T')],
    constants: {
      ...constants,
      hz: floats([], [220]),
      each_s: floats([], [0.02]),
      where: longs([1], []),
      second: longs([1], []),
      output_shape: longs([1, 1, 1, -1]),
    },
    nodes: [
      node('Gather', 'scales second', 'slower', { axis: 0 }),
      ...lasting('input'),
      ...nodes,
      node('Reshape', 'tone output_shape', 'output'),
    ],
    metadata: {
      model_type: 'vits',
      comment: 'piper',
      language: 'English',
      voice,
      has_espeak: 1,
      n_speakers: 1,
      sample_rate: 22_050,
    },
  }
  return { [file]: onnx(graph), 'tokens.txt': phonemes() }
}

/** Kokoro's voices, as kokoro-en-v0_19 has them: the pitch is the speaker's, 200 Hz and 50 more for each. */
export function kokoroVoices(speakers: number): Record<string, Buffer | string> {
  const { constants, nodes } = tone(24_000)
  const [length, style] = [511, 4]
  const graph: Graph = {
    inputs: [long('tokens', 1, 'L'), float('style', 1, style), float('speed', 1)],
    outputs: [float('audio', 'T')],
    constants: { ...constants, each_s: floats([], [0.02]), where: longs([1], []), none: longs([0], []) },
    nodes: [
      node('Gather', 'style none', 'row', { axis: 0 }),
      node('Gather', 'row none', 'hz', { axis: 0 }),
      node('Gather', 'speed none', 'faster', { axis: 0 }),
      node('Div', 'one faster', 'slower'),
      ...lasting('tokens'),
      ...nodes,
      node('Identity', 'tone', 'audio'),
    ],
    metadata: {
      model_type: 'kokoro',
      language: 'English',
      has_espeak: 1,
      sample_rate: 24_000,
      version: 1,
      voice: 'en-us',
      style_dim: `${length},1,${style}`,
      n_speakers: speakers,
      speaker_names: Array.from({ length: speakers }, (_, n) => `speaker${n}`).join(','),
    },
  }
  const styles = Float32Array.from({ length: speakers * length * style }, (_, n) =>
    n % style === 0 ? 200 + 50 * Math.floor(n / (length * style)) : 0,
  )
  return { 'model.onnx': onnx(graph), 'voices.bin': Buffer.from(styles.buffer), 'tokens.txt': phonemes() }
}

/** GTCRN, as gtcrn_simple.onnx is: it takes everything above 4 kHz for noise. */
export function denoiser(): Record<string, Buffer | string> {
  const bins = 257
  const caches = [
    float('conv_cache', 2, 1, 16, 16, 33),
    float('tra_cache', 2, 3, 1, 1, 16),
    float('inter_cache', 2, 1, 33, 16),
  ]
  const graph: Graph = {
    inputs: [float('mix', 1, bins, 1, 2), ...caches],
    outputs: [float('enh', 1, bins, 1, 2), ...caches.map((one) => ({ ...one, name: `${one.name}_out` }))],
    constants: {
      kept: floats(
        [1, bins, 1, 1],
        Array.from({ length: bins }, (_, bin) => (bin < bins / 2 ? 1 : 0)),
      ),
    },
    nodes: [node('Mul', 'mix kept', 'enh'), ...caches.map(({ name }) => node('Identity', name, `${name}_out`))],
    metadata: {
      model_type: 'gtcrn',
      version: 1,
      sample_rate: 16_000,
      n_fft: 512,
      hop_length: 256,
      window_length: 512,
      window_type: 'hann_sqrt',
      conv_cache_shape: '2,1,16,16,33',
      tra_cache_shape: '2,3,1,1,16',
      inter_cache_shape: '2,1,33,16',
    },
  }
  return { 'gtcrn_simple.onnx': onnx(graph) }
}

/** The files of each model of the list that tests run. */
export const TINY_MODELS: Readonly<Record<string, () => Record<string, Buffer | string>>> = {
  'zipformer-en': streamingTransducer,
  'parakeet-v3': nemoTransducer,
  'piper-en-alba': () => piperVoice('en_GB-alba-medium.onnx'),
  'kokoro-en': () => kokoroVoices(11),
  gtcrn: denoiser,
}

/** What Debian's espeak-ng brings, in place of a voice's own copy. */
const ESPEAK_DATA = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/espeak-ng-data`

/** The files that a voice of the hub has beside its model. */
export function espeakFiles(): Record<string, Buffer> {
  const files = readdirSync(ESPEAK_DATA, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [`espeak-ng-data/${path.slice(ESPEAK_DATA.length + 1)}`, readFileSync(path)]
    }),
  )
}

/** Puts tiny models where `patchbay models pull` puts the published ones, and says so in the lock. */
export function putModels(dataDir: string, ids: readonly string[]): void {
  const lock: Record<string, object> = {}
  for (const id of ids) {
    const dir = join(dataDir, 'models/local', id)
    mkdirSync(dir, { recursive: true })
    for (const [name, body] of Object.entries(TINY_MODELS[id]?.() ?? {})) writeFileSync(join(dir, name), body)
    if (/^(piper|kokoro)/.test(id)) symlinkSync(ESPEAK_DATA, join(dir, 'espeak-ng-data'))
    lock[`local/${id}`] = { repository: 'test/tiny', revision: '0'.repeat(40), license: 'Apache-2.0', files: {} }
  }
  writeFileSync(join(dataDir, 'models/models.lock.json'), JSON.stringify({ models: lock }))
}
